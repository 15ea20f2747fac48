/* The command `sandbar`. */
#include "options.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A descriptor that the caller closed must not become the number of a socket of ours: it is opened so that its use
 * fails as before. */
static void hold_standard_descriptors(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
			abort();
}

/* Whether all that was printed went out. Who closed a pipe knows that it did not. */
static bool is_written(void)
{
	errno = 0;
	if (fflush(stdout) == 0 && !ferror(stdout))
		return true;
	if (errno != EPIPE)
		fprintf(stderr, "sandbar: the output could not be written%s%s\n", errno ? ": " : "",
		        errno ? strerror(errno) : "");
	return false;
}

int main(int argc, char **argv)
{
	struct options options;

	hold_standard_descriptors();
	int status = options_parse(&options, argc, argv);

	if (status < 0)
		status = options.command->run(&options);
	options_finish(&options);
	return is_written() || status != EXIT_OK ? status : EXIT_FAILED;
}
