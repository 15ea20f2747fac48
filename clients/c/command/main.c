/* The command `sandbar`. */
#include "options.h"

int main(int argc, char **argv)
{
	struct options options;
	int status = options_parse(&options, argc, argv);

	if (status < 0)
		status = options.command->run(&options);
	options_finish(&options);
	if (fflush(stdout) != 0 && status == EXIT_OK)
		status = EXIT_FAILED;
	return status;
}
