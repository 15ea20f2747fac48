#include "config_parse.h"
#include "doctor.h"
#include "server.h"

#include <signal.h>

static int print_help(void)
{
	flags_help(&options_table, stdout);
	return EXIT_STOPPED;
}

static int print_markdown(void)
{
	flags_markdown(&options_table, stdout);
	puts("\nIn a `[template NAME]` section of a configuration file:\n");
	flags_markdown(&template_table, stdout);
	return EXIT_STOPPED;
}

static int print_version(void)
{
	puts("sandbard " SANDBAR_VERSION);
	return EXIT_STOPPED;
}

int main(int argc, char **argv)
{
	static struct config_file file;
	struct options options;
	struct error err;
	signal(SIGXFSZ, SIG_IGN); /* a file that may not grow is an error of who writes to it; our children inherit that */
	if (options_parse(&options, &file, argc, argv, &err) < 0) {
		fprintf(stderr, "sandbard: %s\n", err.message);
		return EXIT_USAGE;
	}
	if (options.help)
		return print_help();
	if (options.help_markdown)
		return print_markdown();
	if (options.version)
		return print_version();
	return options.doctor ? doctor_run(options.json) : server_run(&options);
}
