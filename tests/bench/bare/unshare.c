/*
 * The namespaces of a session and nothing else: no root of its own, no limits, no list of system calls.
 */
#include "first_byte.h"

#include <stddef.h>

int main(int argc, char **argv)
{
	char *tool[] = {"unshare",  "--mount",      "--pid",        "--uts",         "--ipc", "--net", "--fork",
	                "--cgroup", "--kill-child", "--mount-proc", "/usr/bin/echo", "x",     NULL};
	return first_byte_main(argc, argv, "unshare", tool);
}
