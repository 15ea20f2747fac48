/* `who`, `role`, `kick`, `note`, `terminal`: who shares a session, and how. */
#include "ask.h"
#include "columns.h"
#include "commands.h"
#include "escape.h"
#include "json.h"
#include "query.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- Who is here ---- */

static bool asks_for(const struct reader *terminal, uint64_t participant)
{
	struct reader requests = query_field(terminal, "requests"), one;
	uint64_t number;

	while (query_next(&requests, &one))
		if (reader_uint(&one, &number) && number == participant)
			return true;
	return false;
}

/* "drives 2, asks for 3" */
static void add_terminals(struct columns *columns, const struct reader *result, uint64_t participant)
{
	struct reader rows = query_field(result, "terminals"), terminal;
	char text[128] = "";
	size_t length = 0;

	while (query_next(&rows, &terminal) && length < sizeof(text) - 32) {
		bool drives = query_number(&terminal, "driver") == participant;
		if (!drives && !asks_for(&terminal, participant))
			continue;
		length += (size_t)snprintf(text + length, sizeof(text) - length, "%s%s %" PRIu64, length ? ", " : "",
		                           drives ? "drives" : "asks for", query_number(&terminal, "process"));
	}
	columns_format(columns, "%s", length ? text : "-");
}

static void print_people(const struct context *context, const struct reader *result)
{
	static const char *const HEADINGS[] = {"PARTICIPANT", "ROLE", "TERMINALS", "CLIENT", "NAME", NULL};
	struct columns *columns = columns_create(HEADINGS);
	struct reader rows = query_field(result, "participants"), row;

	(void)context;
	while (query_next(&rows, &row)) {
		uint64_t number = query_number(&row, "participant");
		struct view role = query_text(&row, "role"), client = query_text(&row, "client"),
					name = query_text(&row, "name");
		columns_format(columns, "%" PRIu64, number);
		columns_add(columns, role.data, role.length);
		add_terminals(columns, result, number);
		columns_add(columns, client.data, client.length);
		columns_add(columns, name.data, name.length);
	}
	columns_print(columns, stdout);
}

static void print_people_json(const struct context *context, const struct reader *result)
{
	struct reader participants = query_field(result, "participants"), terminals = query_field(result, "terminals");

	(void)context;
	fputs("{\"participants\": ", stdout);
	json_value(stdout, &participants);
	fputs(", \"terminals\": ", stdout);
	json_value(stdout, &terminals);
	puts("}");
}

static int who(struct context *context, const char *session)
{
	struct writer params;

	ask_begin(&params, 1, session);
	return ask_either(context, "session.info", &params, print_people, print_people_json);
}

/* ---- Which participant ---- */

static bool read_number(const char *text, uint32_t *number)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	*number = (uint32_t)value;
	return isdigit((unsigned char)text[0]) && *end == '\0' && value > 0 && value <= UINT32_MAX;
}

/* How many of those who are here are called NAME; NUMBER becomes the last one's. */
static size_t count_named(const struct reader *info, const char *name, uint32_t *number)
{
	struct reader rows = query_field(info, "participants"), row;
	size_t found = 0;

	while (query_next(&rows, &row)) {
		if (!view_equals(query_text(&row, "name"), name))
			continue;
		*number = (uint32_t)query_number(&row, "participant");
		found++;
	}
	return found;
}

static int no_such_person(const char *text, size_t found)
{
	fputs("sandbar: ", stderr);
	escape_print(stderr, text, strlen(text));
	fprintf(stderr,
	        found ? ": %zu have this name: say their number, which `sandbar who` shows\n"
	              : ": nobody here has this name; `sandbar who` shows them\n",
	        found);
	return found ? EXIT_USAGE : EXIT_NOT_FOUND;
}

/* A number, or the name of exactly one who is here. -1, or an exit code. */
static int find_person(struct context *context, const char *session, const char *text, uint32_t *number)
{
	struct query query;
	struct sandbar_error error;

	if (read_number(text, number))
		return -1;
	if (query_session(&query, context->sandbar, "session.info", session, 0, &error) < 0)
		return context_fail(context, NULL, &error);
	size_t found = count_named(&query.result, text, number);
	query_finish(&query);
	return found == 1 ? -1 : no_such_person(text, found);
}

/* ---- What is done to them ---- */

static int change_role(struct context *context, const char *session)
{
	const char *const *arguments = context->options->arguments;
	struct writer params;
	uint32_t number;
	int status = find_person(context, session, arguments[1], &number);

	if (status >= 0)
		return status;
	ask_begin(&params, 3, session);
	writer_key_uint(&params, "participant", number);
	writer_key_str(&params, "role", arguments[2]);
	return ask(context, "session.role", &params, NULL);
}

static int kick(struct context *context, const char *session)
{
	struct writer params;
	uint32_t number;
	int status = find_person(context, session, context->options->arguments[1], &number);

	if (status >= 0)
		return status;
	ask_begin(&params, 2, session);
	writer_key_uint(&params, "participant", number);
	return ask(context, "session.remove", &params, NULL);
}

/* The words in one line, as `echo` joins them. */
static char *join(const char *const *words, size_t count)
{
	char *text;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	if (!out)
		abort();
	for (size_t i = 0; i < count; i++)
		fprintf(out, "%s%s", i ? " " : "", words[i]);
	fclose(out);
	return text;
}

static int note(struct context *context, const char *session)
{
	const struct options *options = context->options;
	struct writer params;
	char *text = join(options->arguments + 1, options->argument_count - 1);

	ask_begin(&params, options->process ? 3 : 2, session);
	writer_key_str(&params, "text", text);
	if (options->process)
		writer_key_uint(&params, "process", options->process);
	free(text);
	return ask(context, "session.note", &params, NULL);
}

/* ---- How a terminal is shared ---- */

/* The newest that runs. */
static int find_terminal(struct context *context, const char *session, uint32_t *process)
{
	struct query query;
	struct reader row;
	struct sandbar_error error;

	if (query_session(&query, context->sandbar, "session.info", session, 0, &error) < 0)
		return context_fail(context, NULL, &error);
	struct reader rows = query_field(&query.result, "terminals");
	for (*process = 0; query_next(&rows, &row);)
		if (query_number(&row, "process") > *process)
			*process = (uint32_t)query_number(&row, "process");
	query_finish(&query);
	if (*process)
		return -1;
	context_say("no terminal runs in session %s; make one with: sandbar exec -t %s -- COMMAND", session, session);
	return EXIT_NOT_FOUND;
}

static int set_terminal(struct context *context, const char *session)
{
	const struct options *options = context->options;
	struct writer params;
	uint32_t process, cols, rows;
	int status = options->argument_count > 1 ? context_process(options->arguments[1], &process)
	                                         : find_terminal(context, session, &process);

	if (status >= 0)
		return status;
	if (!options->input && !options->size) {
		context_say("say what: --input open|driver, --size driver|smallest|largest|COLSxROWS");
		return EXIT_USAGE;
	}
	bool is_fixed = options->size && options_read_size(options->size, &cols, &rows);
	ask_begin(&params, 2u + (options->input != NULL) + (is_fixed ? 3u : options->size ? 1u : 0u), session);
	writer_key_uint(&params, "process", process);
	if (options->input)
		writer_key_str(&params, "input", options->input);
	if (options->size)
		writer_key_str(&params, "size", is_fixed ? "fixed" : options->size);
	if (is_fixed) {
		writer_key_uint(&params, "cols", cols);
		writer_key_uint(&params, "rows", rows);
	}
	return ask(context, "terminal.set", &params, NULL);
}

/* ---- The commands ---- */

static int run(struct options *options, int (*work)(struct context *context, const char *session))
{
	char session[SANDBAR_SESSION_BYTES];
	struct context context;
	int status = context_connect(&context, options);

	if (status < 0)
		status = context_session(&context, options->arguments[0], session);
	if (status < 0)
		status = work(&context, session);
	context_finish(&context);
	return status;
}

int command_who(struct options *options)
{
	return run(options, who);
}

int command_role(struct options *options)
{
	const char *allowed = options_check_role(options->arguments[2]);

	if (allowed) {
		context_say("%s: %s", options->arguments[2], allowed);
		return EXIT_USAGE;
	}
	return run(options, change_role);
}

int command_kick(struct options *options)
{
	return run(options, kick);
}

int command_note(struct options *options)
{
	return run(options, note);
}

int command_terminal(struct options *options)
{
	return run(options, set_terminal);
}
