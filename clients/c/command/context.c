#include "context.h"

#include "clients/c/failure.h"
#include "escape.h"
#include "link.h"
#include "query.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
	GIVE_UP_MS = 120000,
	AWAY_SLACK_MS = 10000,
	LONGEST_MS = 24 * 3600 * 1000,
	CUT_TOLD_MS = 2000,
	TURN_MS = 250,
	FILE_BYTES = 4096
};

void context_say(const char *format, ...)
{
	va_list arguments;

	fputs("sandbar: ", stderr);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
}

/* Codes that have an exit code of their own. */
static const struct code_row {
	const char *code;
	int exit_code;
} CODES[] = {
	{"connect", EXIT_NO_SERVER},   {"unauthenticated", EXIT_NO_SERVER}, {"closed", EXIT_NO_SERVER},
	{"not_found", EXIT_NOT_FOUND}, {"session_ended", EXIT_NOT_FOUND},   {"usage", EXIT_USAGE},
	{"interrupted", 130},
};

int context_fail(const struct context *context, const char *what, const struct sandbar_error *error)
{
	int exit_code = EXIT_FAILED;

	fputs("sandbar: ", stderr);
	if (what)
		fprintf(stderr, "%s: ", what);
	escape_print(stderr, error->message, strlen(error->message));
	fputs(" (", stderr);
	escape_print(stderr, error->code, strlen(error->code));
	fputs(")\n", stderr);
	for (size_t i = 0; i < sizeof(CODES) / sizeof(CODES[0]); i++)
		if (strcmp(CODES[i].code, error->code) == 0)
			exit_code = CODES[i].exit_code;
	return context->options->command->takes_program && exit_code != EXIT_USAGE && exit_code < EXIT_OWN_FAILURE
	           ? EXIT_OWN_FAILURE
	           : exit_code;
}

/* ---- Where, and as whom ---- */

/* As sandbard chooses it (see its --help). NULL if nothing says where. */
static char *state_directory(const struct options *options)
{
	const char *given = options->state ? options->state : getenv("SANDBAR_STATE");
	const char *base = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	char *path = NULL;
	int length = 0;

	if (given)
		length = asprintf(&path, "%s", given);
	else if (geteuid() == 0)
		length = asprintf(&path, "/var/lib/sandbar");
	else if (base && base[0] == '/')
		length = asprintf(&path, "%s/sandbar", base);
	else if (home)
		length = asprintf(&path, "%s/.local/state/sandbar", home);
	if (length < 0)
		abort();
	return path;
}

/* The first line of a small file. */
static char *read_line_of(const char *path, struct sandbar_error *error)
{
	char line[FILE_BYTES];
	FILE *file = fopen(path, "re");

	if (!file) {
		failure_set(error, "connect", "open `%s`: %s", path, strerror(errno));
		return NULL;
	}
	size_t length = fread(line, 1, sizeof(line) - 1, file);
	fclose(file);
	line[length] = '\0';
	line[strcspn(line, "\r\n")] = '\0';
	char *copy = line[0] ? strdup(line) : NULL;
	if (!copy)
		failure_set(error, "connect", "`%s` is empty", path);
	return copy;
}

static char *read_state_file(const struct options *options, const char *name, struct sandbar_error *error)
{
	char *directory = state_directory(options), *path, *line;

	if (!directory) {
		failure_set(error, "connect", "neither HOME nor --state says where the server's state is");
		return NULL;
	}
	if (asprintf(&path, "%s/%s", directory, name) < 0)
		abort();
	line = read_line_of(path, error);
	free(path);
	free(directory);
	return line;
}

static char *copy_of(const char *text)
{
	char *copy = strdup(text);

	if (!copy)
		abort();
	return copy;
}

static char *find_url(const struct options *options, struct sandbar_error *error)
{
	const char *given = options->url ? options->url : getenv("SANDBAR_URL");

	if (given)
		return copy_of(given);
	char *url = read_state_file(options, "address", error);
	if (!url && error) {
		struct sandbar_error reason = *error;
		failure_set(error, "connect", "no server is known: %.300s; start sandbard, or say --url", reason.message);
	}
	return url;
}

static char *find_token(const struct options *options, struct sandbar_error *error)
{
	const char *given = getenv("SANDBAR_TOKEN");

	if (options->token_file)
		return read_line_of(options->token_file, error);
	return given ? copy_of(given) : read_state_file(options, "owner.token", error);
}

/* ---- The connection ---- */

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void on_state(struct sandbar *sandbar, enum sandbar_state state, const struct sandbar_error *why, void *user)
{
	struct context *context = user;

	(void)sandbar, (void)why;
	if (state == SANDBAR_CUT) {
		context->cut_at_ms = now_ms();
	} else if (state == SANDBAR_RESUMED) {
		if (context->cut_was_told)
			context_say("connected again");
		context->cut_at_ms = 0;
		context->cut_was_told = false;
	}
}

static int prepare(struct context *context, const struct options *options, struct sandbar_error *error)
{
	*context = (struct context){.options = options};
	if (link_is(options)) {
		if (link_read(options, &context->url, &context->token, error) < 0)
			return -1;
	} else {
		context->url = find_url(options, error);
		context->token = context->url ? find_token(options, error) : NULL;
	}
	if (!context->token)
		return -1;
	struct sandbar_options settings = {
		.url = context->url,
		.token = context->token,
		.client = "sandbar/" SANDBAR_VERSION,
		.ca_file = options->ca_file,
		.give_up_ms = options->has_give_up ? (uint32_t)options->give_up_ms : GIVE_UP_MS,
		.on_state = on_state,
		.user = context,
	};
	context->sandbar = sandbar_create(&settings, error);
	return context->sandbar ? 0 : -1;
}

uint64_t context_away_ms(const struct options *options)
{
	uint64_t tries = options->has_give_up ? options->give_up_ms : GIVE_UP_MS;

	return (tries > 0 ? tries : (uint64_t)LONGEST_MS) + AWAY_SLACK_MS;
}

int context_init(struct context *context, const struct options *options)
{
	struct sandbar_error error;

	return prepare(context, options, &error) == 0 ? -1 : context_fail(context, NULL, &error);
}

int context_connect(struct context *context, const struct options *options)
{
	struct sandbar_error error;

	if (prepare(context, options, &error) < 0)
		return context_fail(context, NULL, &error);
	if (sandbar_connect(context->sandbar, &error) == 0)
		return -1;
	return context_fail(context, context->url, &error);
}

int context_try(struct context *context, const struct options *options)
{
	bool is_there = prepare(context, options, NULL) == 0 && sandbar_connect(context->sandbar, NULL) == 0;

	return is_there ? -1 : EXIT_NO_SERVER;
}

void context_finish(struct context *context)
{
	sandbar_destroy(context->sandbar);
	free(context->url);
	if (context->token)
		explicit_bzero(context->token, strlen(context->token));
	free(context->token);
	*context = (struct context){0};
}

int context_turn(struct context *context, struct sandbar_error *error)
{
	return context_turn_within(context, -1, error);
}

int context_turn_within(struct context *context, int most_ms, struct sandbar_error *error)
{
	bool is_cut = context->cut_at_ms != 0;
	int wait_ms = is_cut && (most_ms < 0 || most_ms > TURN_MS) ? TURN_MS : most_ms;

	if (is_cut && !context->cut_was_told && !context->is_quiet && now_ms() - context->cut_at_ms > CUT_TOLD_MS) {
		context_say("the connection was cut; trying again");
		context->cut_was_told = true;
	}
	return sandbar_run_once(context->sandbar, wait_ms, error);
}

/* ---- What the user names ---- */

static bool is_session_id(const char *text)
{
	return strlen(text) == SANDBAR_SESSION_BYTES - 1 &&
	       strspn(text, "abcdefghijklmnopqrstuvwxyz234567") == SANDBAR_SESSION_BYTES - 1;
}

/* How many of the sessions that live, or have ended, are called NAME; ID becomes the first one's. -1 on error. */
static int count_named(struct context *context, const char *name, bool ended, char id[SANDBAR_SESSION_BYTES],
                       struct sandbar_error *error)
{
	struct query query;
	struct reader row;
	int found = 0;

	if (query_sessions(&query, context->sandbar, ended, error) < 0)
		return -1;
	struct reader rows = query_field(&query.result, "sessions");
	while (query_next(&rows, &row)) {
		if (view_equals(query_text(&row, "name"), name) && found++ == 0)
			snprintf(id, SANDBAR_SESSION_BYTES, "%.*s", (int)query_text(&row, "session").length,
			         query_text(&row, "session").data);
	}
	query_finish(&query);
	return found;
}

/* One that lives goes before all that have ended. */
static int find_by_name(struct context *context, const char *name, char id[SANDBAR_SESSION_BYTES])
{
	struct sandbar_error error;
	int found = count_named(context, name, false, id, &error);

	if (found == 0)
		found = count_named(context, name, true, id, &error);
	if (found < 0)
		return context_fail(context, NULL, &error);
	if (found == 1)
		return -1;
	failure_set(&error, found ? "usage" : "not_found",
	            found ? "%d sessions have this name: use the id" : "no such session", found);
	return context_fail(context, name, &error);
}

static int the_shared_session(struct context *context, char id[SANDBAR_SESSION_BYTES])
{
	struct sandbar_error error;

	strcpy(id, sandbar_shared_session(context->sandbar));
	if (id[0])
		return -1;
	failure_set(&error, "usage", "its token is not a link's: name a session");
	return context_fail(context, NULL, &error);
}

int context_session(struct context *context, const char *name, char id[SANDBAR_SESSION_BYTES])
{
	if (link_is(context->options) && name == context->options->arguments[0])
		return the_shared_session(context, id);
	if (!is_session_id(name))
		return find_by_name(context, name, id);
	memcpy(id, name, SANDBAR_SESSION_BYTES);
	return -1;
}

int context_process(const char *text, uint32_t *process)
{
	char *end;

	errno = 0;
	unsigned long number = strtoul(text, &end, 10);
	if (text[0] < '0' || text[0] > '9' || *end || errno || number == 0 || number > UINT32_MAX) {
		context_say("`%s` is not a process: `sandbar ps` shows their numbers", text);
		return EXIT_USAGE;
	}
	*process = (uint32_t)number;
	return -1;
}
