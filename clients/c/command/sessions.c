/* `new`, `update`, `end`, `ls`, `info`. */
#include "columns.h"
#include "commands.h"
#include "context.h"
#include "json.h"
#include "query.h"
#include "stay.h"
#include "tree.h"
#include "when.h"

#include <inttypes.h>
#include <string.h>

int command_new(struct options *options)
{
	struct context context;
	struct sandbar_error error;
	char id[SANDBAR_SESSION_BYTES];
	int status = context_connect(&context, options);
	bool stays = options->on_disconnect && strcmp(options->on_disconnect, "end") == 0;
	struct sandbar_session session = {
		.name = options->name,
		.template = options->template,
		.profile = options->profile,
		.env = (const char *const *)options->env.items,
		.require = (const char *const *)options->require.items,
		.context = (const char *const *)options->context.items,
		.limits = options->limits,
		.ttl_ms = options->ttl_ms,
		.disconnect_ms = stays ? context_away_ms(options) : 0,
	};

	if (status < 0 && sandbar_session_create(context.sandbar, &session, id, &error) < 0)
		status = context_fail(&context, NULL, &error);
	if (status < 0) {
		if (stays)
			stay_hold_signals();
		printf(options->json ? "{\"session\": \"%s\"}\n" : "%s\n", id);
		fflush(stdout);
		status = stays ? stay(&context, id) : EXIT_OK;
	}
	context_finish(&context);
	return status;
}

int command_update(struct options *options)
{
	static const char *const NOTHING[] = {NULL};
	struct context context;
	struct sandbar_error error;
	char id[SANDBAR_SESSION_BYTES];
	const struct sandbar_changes changes = {
		.name = options->name,
		.context = options->no_context ? NOTHING : (const char *const *)options->context.items,
		.ttl_ms = options->has_ttl ? &options->ttl_ms : NULL,
	};

	if (options->no_context && options->context.count > 0) {
		context_say("--no-context and --context do not go together");
		return EXIT_USAGE;
	}
	if (!changes.name && !changes.context && !changes.ttl_ms) {
		context_say("update: nothing to change; give --name, --ttl, --context or --no-context");
		return EXIT_USAGE;
	}
	int status = context_connect(&context, options);
	if (status < 0)
		status = context_session(&context, options->arguments[0], id);
	if (status < 0 && sandbar_session_update(context.sandbar, id, &changes, &error) < 0)
		status = context_fail(&context, NULL, &error);
	if (status < 0) {
		status = EXIT_OK;
		if (options->json)
			puts("{}");
	}
	context_finish(&context);
	return status;
}

static int end_one(struct context *context, const char *name)
{
	char id[SANDBAR_SESSION_BYTES];
	struct sandbar_error error;
	int status = context_session(context, name, id);

	if (status >= 0)
		return status;
	if (sandbar_session_end(context->sandbar, id, &error) == 0)
		return EXIT_OK;
	return context_fail(context, NULL, &error);
}

/* Every session is tried; the first failure decides the exit code. */
int command_end(struct options *options)
{
	struct context context;
	int status = context_connect(&context, options);

	if (status < 0) {
		status = EXIT_OK;
		for (size_t i = 0; i < options->argument_count; i++) {
			int outcome = end_one(&context, options->arguments[i]);
			status = status == EXIT_OK ? outcome : status;
		}
		if (status == EXIT_OK && options->json)
			puts("{}");
	}
	context_finish(&context);
	return status;
}

/* As long ago as MICROSECONDS. */
static void add_age(struct columns *columns, uint64_t microseconds)
{
	char text[WHEN_BYTES];

	when_span(microseconds, text);
	columns_format(columns, "%s", text);
}

static void add_text(struct columns *columns, const struct reader *map, const char *key)
{
	struct view text = query_text(map, key);

	columns_add(columns, text.length ? text.data : "-", text.length ? text.length : 1);
}

static void print_sessions(const struct reader *result)
{
	static const char *const HEADINGS[] = {"SESSION", "AGE", "TEMPLATE", "PROCESSES", "PARTICIPANTS", "NAME", NULL};
	struct columns *columns = columns_create(HEADINGS);
	struct reader rows = query_field(result, "sessions"), row;
	uint64_t now = when_now();

	while (query_next(&rows, &row)) {
		uint64_t created = query_number(&row, "created_us");
		add_text(columns, &row, "session");
		add_age(columns, now > created ? now - created : 0);
		add_text(columns, &row, "template");
		columns_format(columns, "%" PRIu64, query_number(&row, "processes"));
		columns_format(columns, "%" PRIu64, query_number(&row, "participants"));
		add_text(columns, &row, "name");
	}
	columns_print(columns, stdout);
}

static void print_ended(const struct reader *result)
{
	static const char *const HEADINGS[] = {"SESSION", "ENDED", "REASON", "TEMPLATE", "NAME", NULL};
	struct columns *columns = columns_create(HEADINGS);
	struct reader rows = query_field(result, "sessions"), row;
	uint64_t now = when_now();

	while (query_next(&rows, &row)) {
		uint64_t ended = query_number(&row, "ended_us");
		add_text(columns, &row, "session");
		add_age(columns, now > ended ? now - ended : 0);
		add_text(columns, &row, "reason");
		add_text(columns, &row, "template");
		add_text(columns, &row, "name");
	}
	columns_print(columns, stdout);
}

static void print_json(const struct reader *result)
{
	struct reader reader = *result;

	json_value(stdout, &reader);
	putchar('\n');
}

int command_ls(struct options *options)
{
	struct context context;
	struct query query;
	struct sandbar_error error;
	int status = context_connect(&context, options);

	if (status < 0 && query_sessions(&query, context.sandbar, options->ended, &error) < 0)
		status = context_fail(&context, NULL, &error);
	if (status < 0) {
		if (options->json)
			print_json(&query.result);
		else if (options->ended)
			print_ended(&query.result);
		else
			print_sessions(&query.result);
		query_finish(&query);
		status = EXIT_OK;
	}
	context_finish(&context);
	return status;
}

static int info(struct context *context, const struct options *options)
{
	struct query query;
	struct sandbar_error error;
	char id[SANDBAR_SESSION_BYTES] = "";
	int status = options->argument_count ? context_session(context, options->arguments[0], id) : -1;

	if (status >= 0)
		return status;
	int outcome = id[0] ? query_session(&query, context->sandbar, "session.info", id, 0, &error)
	                    : query_begin(&query, context->sandbar, "server.info", NULL, 0, &error);
	if (outcome < 0)
		return context_fail(context, NULL, &error);
	if (options->json)
		print_json(&query.result);
	else
		tree_print(stdout, &query.result);
	query_finish(&query);
	return EXIT_OK;
}

int command_info(struct options *options)
{
	struct context context;
	int status = context_connect(&context, options);

	if (status < 0)
		status = info(&context, options);
	context_finish(&context);
	return status;
}
