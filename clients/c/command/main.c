/* The command `sandbar`. */
#include "options.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

/* A descriptor that the caller closed must not become the number of a socket of ours: it is opened so that its use
 * fails as before. */
static void hold_standard_descriptors(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
			abort();
}

int main(int argc, char **argv)
{
	struct options options;

	hold_standard_descriptors();
	int status = options_parse(&options, argc, argv);

	if (status < 0)
		status = options.command->run(&options);
	options_finish(&options);
	if ((fflush(stdout) != 0 || ferror(stdout)) && status == EXIT_OK)
		status = EXIT_FAILED;
	return status;
}
