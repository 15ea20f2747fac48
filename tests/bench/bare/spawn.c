/* Starting a program and waiting for its end, bare: posix_spawn of /bin/true from a small process, and waitid. */
#include "measure.h"

#include <errno.h>
#include <spawn.h>

extern char **environ;

static uint64_t spawn_once(void)
{
	char *argv[] = {"true", NULL};
	pid_t pid;
	uint64_t begin = now_ns();
	errno = posix_spawn(&pid, "/bin/true", NULL, NULL, argv, environ);
	if (errno != 0)
		die("posix_spawn `/bin/true`");
	wait_for(pid);
	return now_ns() - begin;
}

int main(int argc, char **argv)
{
	uint64_t runs = 500;
	const struct option_row options[] = {{"--runs", &runs, "how often"}, {NULL, NULL, NULL}};
	struct samples samples;
	options_read(argc, argv, options);
	samples_init(&samples, runs);
	for (uint64_t i = 0; i < runs; i++)
		samples_add(&samples, spawn_once());
	samples_print(&samples, "spawn");
	samples_finish(&samples);
	return 0;
}
