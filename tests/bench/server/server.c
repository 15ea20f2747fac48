#include "server.h"

#include "guardian.h"
#include "tests/bench/bare/link.h"
#include "tests/bench/bare/measure.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WAIT_MS = 20000, STEP_MS = 5, SECONDS = 60, ARGUMENTS = 24, NUMBER_TEXT = 24 };

static struct guardian guardian;

static void stop(void)
{
	guardian_stop(&guardian);
}

static void program_path(char path[PATH_MAX])
{
	const char *directory = getenv("SANDBAR_BIN");
	if (directory) {
		snprintf(path, PATH_MAX, "%s/sandbard", directory);
		return;
	}
	char self[PATH_MAX - 32];
	ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
	if (length < 0)
		die("readlink `/proc/self/exe`");
	self[length] = '\0';
	*strrchr(self, '/') = '\0';
	snprintf(path, PATH_MAX, "%s/../../bin/sandbard", self);
}

/* The first line of the file NAME of the state directory; false while it is not there. */
static bool read_line(const char *name, char text[SERVER_TEXT])
{
	char path[PATH_MAX];
	snprintf(path, sizeof path, "%s/state/%s", guardian.folder, name);
	FILE *file = fopen(path, "re");
	bool good = file && fgets(text, SERVER_TEXT, file);
	if (file)
		fclose(file);
	if (good)
		text[strcspn(text, "\n")] = '\0';
	return good && text[0] != '\0';
}

static void await(struct server *server)
{
	for (int waited = 0; waited < WAIT_MS && guardian_has_server(&guardian); waited += STEP_MS) {
		if (read_line("address", server->address) && read_line("owner.token", server->token))
			return;
		usleep(STEP_MS * 1000);
	}
	fprintf(stderr, "the server did not start\n");
	exit(1);
}

struct arguments {
	const char *word[ARGUMENTS];
	size_t count;
};

static void add(struct arguments *arguments, const char *flag, const char *value)
{
	arguments->word[arguments->count++] = flag;
	arguments->word[arguments->count++] = value;
}

static void add_number(struct arguments *arguments, const char *flag, uint64_t value, char text[NUMBER_TEXT])
{
	snprintf(text, NUMBER_TEXT, "%llu", (unsigned long long)value);
	add(arguments, flag, text);
}

/* In the process that becomes the server. */
static void execute(const char *folder, const void *argument)
{
	const struct server_options *options = argument;
	char program[PATH_MAX], state[PATH_MAX], numbers[4][NUMBER_TEXT];
	struct certificate certificate;
	struct arguments arguments = {.word = {"sandbard"}, .count = 1};
	program_path(program);
	snprintf(state, sizeof state, "%s/state", folder);
	add(&arguments, "--listen", "127.0.0.1:0");
	add(&arguments, "--log-level", "error");
	add(&arguments, "--state", state);
	if (options->tls) {
		certificate_make(&certificate, folder);
		add(&arguments, "--tls-cert", certificate.cert);
		add(&arguments, "--tls-key", certificate.key);
	}
	if (options->sets_record)
		add_number(&arguments, "--record", options->record, numbers[0]);
	add_number(&arguments, "--warm", options->warm, numbers[3]);
	if (options->sessions > 0)
		add_number(&arguments, "--max-sessions", options->sessions, numbers[1]);
	if (options->connections > 0)
		add_number(&arguments, "--max-connections", options->connections, numbers[2]);
	if (options->quiet && !freopen("/dev/null", "w", stderr))
		_exit(127);
	execv(program, (char *const *)(uintptr_t)arguments.word);
}

void server_start(struct server *server, const struct server_options *options)
{
	static const struct server_options none;
	options = options ? options : &none;
	guardian_start(&guardian, execute, options);
	atexit(stop);
	server->pid = guardian.server;
	alarm(options->seconds > 0 ? options->seconds : SECONDS);
	await(server);
}
