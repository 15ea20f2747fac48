/* `ps`, `kill`. */
#include "columns.h"
#include "commands.h"
#include "context.h"
#include "escape.h"
#include "json.h"
#include "query.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* "80x24" or "pipes". */
static void add_kind(struct columns *columns, const struct reader *process)
{
	struct reader terminal = query_field(process, "terminal");

	if (query_is_nil(process, "terminal"))
		columns_format(columns, "pipes");
	else
		columns_format(columns, "%" PRIu64 "x%" PRIu64, query_number(&terminal, "cols"),
		               query_number(&terminal, "rows"));
}

static void add_state(struct columns *columns, const struct reader *process)
{
	struct reader ending = query_field(process, "exited");
	struct view state = query_text(process, "state"), reason = query_text(&ending, "reason");

	if (query_is_nil(process, "exited"))
		columns_add(columns, state.data, state.length);
	else if (query_is_nil(&ending, "exit_code"))
		columns_add(columns, reason.data, reason.length);
	else
		columns_format(columns, "%.*s %" PRIu64, (int)reason.length, reason.data, query_number(&ending, "exit_code"));
}

/* The arguments in one line; the table escapes what is in them. */
static void add_command(struct columns *columns, const struct reader *process)
{
	struct reader arguments = query_field(process, "argv"), argument;
	struct view text;
	char *line;
	size_t length;
	FILE *out = open_memstream(&line, &length);

	if (!out)
		abort();
	for (bool first = true; query_next(&arguments, &argument); first = false) {
		fputs(first ? "" : " ", out);
		if (reader_str(&argument, &text) || reader_bin(&argument, &text))
			fwrite(text.data, 1, text.length, out);
	}
	fclose(out);
	columns_add(columns, line, length);
	free(line);
}

static void print_processes(const struct reader *result)
{
	static const char *const HEADINGS[] = {"PROCESS", "STATE", "KIND", "NAME", "COMMAND", NULL};
	struct columns *columns = columns_create(HEADINGS);
	struct reader rows = query_field(result, "processes"), row;

	while (query_next(&rows, &row)) {
		struct view name = query_text(&row, "name");
		columns_format(columns, "%" PRIu64, query_number(&row, "process"));
		add_state(columns, &row);
		add_kind(columns, &row);
		columns_add(columns, name.length ? name.data : "-", name.length ? name.length : 1);
		add_command(columns, &row);
	}
	columns_print(columns, stdout);
}

static int list(struct context *context, const struct options *options)
{
	struct query query;
	struct sandbar_error error;
	char id[SANDBAR_SESSION_BYTES];
	int status = context_session(context, options->arguments[0], id);

	if (status >= 0)
		return status;
	if (query_session(&query, context->sandbar, "process.list", id, 0, &error) < 0)
		return context_fail(context, NULL, &error);
	if (options->json) {
		json_value(stdout, &query.result);
		putchar('\n');
	} else {
		print_processes(&query.result);
	}
	query_finish(&query);
	return EXIT_OK;
}

int command_ps(struct options *options)
{
	struct context context;
	int status = context_connect(&context, options);

	if (status < 0)
		status = list(&context, options);
	context_finish(&context);
	return status;
}

struct outcome {
	bool is_done, has_failed;
	struct sandbar_error error;
};

static void on_answer(struct sandbar *sandbar, const struct sandbar_error *error, const void *result, size_t length,
                      void *user)
{
	struct outcome *outcome = user;

	(void)sandbar, (void)result, (void)length;
	outcome->is_done = true;
	outcome->has_failed = error != NULL;
	if (error)
		outcome->error = *error;
}

static int kill_one(struct context *context, const struct options *options)
{
	struct outcome outcome = {0};
	char id[SANDBAR_SESSION_BYTES];
	uint32_t process, request;
	int status = context_process(options->arguments[1], &process);

	if (status < 0)
		status = context_session(context, options->arguments[0], id);
	if (status >= 0)
		return status;
	if (options->signal)
		request = sandbar_process_signal(context->sandbar, id, process, options->signal, options->tree, on_answer,
		                                 &outcome, &outcome.error);
	else
		request = sandbar_process_kill(context->sandbar, id, process, options->grace_ms, on_answer, &outcome,
		                               &outcome.error);
	bool is_alive = request != 0;
	while (is_alive && !outcome.is_done)
		is_alive = context_turn(context, &outcome.error) == 0;
	if (outcome.is_done && !outcome.has_failed)
		return EXIT_OK;
	return context_fail(context, NULL, &outcome.error);
}

int command_kill(struct options *options)
{
	struct context context;
	int status = context_connect(&context, options);

	if (status < 0)
		status = kill_one(&context, options);
	if (status == EXIT_OK && options->json)
		puts("{}");
	context_finish(&context);
	return status;
}
