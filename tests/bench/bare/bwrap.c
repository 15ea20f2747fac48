/*
 * A cold sandbox, bare: bubblewrap with the namespaces of a session and the host's /usr.
 */
#include "first_byte.h"

#include <stddef.h>

int main(int argc, char **argv)
{
	char *tool[] = {"bwrap",   "--unshare-all", "--ro-bind",     "/usr",      "/usr",   "--symlink",
	                "usr/lib", "/lib",          "--symlink",     "usr/lib64", "/lib64", "--symlink",
	                "usr/bin", "/bin",          "/usr/bin/echo", "x",         NULL};
	return first_byte_main(argc, argv, "bwrap", tool);
}
