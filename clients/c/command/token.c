/* `token`: `new`, `ls`, `revoke`. */
#include "columns.h"
#include "commands.h"
#include "context.h"
#include "json.h"
#include "protocol/wire.h"
#include "protocol/writer.h"
#include "query.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

enum { US_PER_S = 1000000, RIGHTS_TEXT = 64 };

/* "read,run" as a list. */
static void write_rights(struct writer *params, const char *text)
{
	uint32_t count = 1;

	for (const char *at = text; (at = strchr(at, ',')); at++)
		count++;
	writer_str(params, "rights");
	writer_array(params, count);
	for (size_t length; count > 0; count--, text += length + 1) {
		length = strcspn(text, ",");
		writer_strn(params, text, length);
	}
}

static void write_new(struct writer *params, const struct options *options)
{
	writer_map(params, 1u + (options->tenant != NULL) + (options->rights != NULL) + (options->expires_ms > 0));
	writer_key_str(params, "name", options->name ? options->name : "token");
	if (options->tenant)
		writer_key_str(params, "tenant", options->tenant);
	if (options->rights)
		write_rights(params, options->rights);
	if (options->expires_ms > 0)
		writer_key_uint(params, "expires_ms", options->expires_ms);
}

static void write_revoke(struct writer *params, const struct options *options)
{
	writer_map(params, 1);
	writer_key_str(params, "id", options->arguments[1]);
}

static void write_nothing(struct writer *params, const struct options *options)
{
	(void)options;
	writer_map(params, 0);
}

/* ---- What is printed ---- */

static void print_new(const struct reader *result)
{
	struct view token = query_text(result, "token"), id = query_text(result, "id");

	printf("%.*s\n", (int)token.length, token.data);
	context_say("the token is shown only now; its id, for `token revoke`, is %.*s", (int)id.length, id.data);
}

static void add_text(struct columns *columns, const struct reader *row, const char *key)
{
	struct view text = query_text(row, key);

	columns_add(columns, text.data, text.length);
}

static void add_rights(struct columns *columns, const struct reader *row)
{
	struct reader rights = query_field(row, "rights"), right;
	char text[RIGHTS_TEXT] = "";
	size_t length = 0;

	while (query_next(&rights, &right)) {
		struct view name;
		if (reader_str(&right, &name) && length < sizeof(text))
			length += (size_t)snprintf(text + length, sizeof(text) - length, "%s%.*s", length ? "," : "",
			                           (int)name.length, name.data);
	}
	columns_format(columns, "%s", text);
}

static void add_expiry(struct columns *columns, const struct reader *row)
{
	char text[32] = "never";
	time_t expires = (time_t)(query_number(row, "expires_us") / US_PER_S);
	struct tm parts;

	if (query_truth(row, "revoked"))
		snprintf(text, sizeof(text), "revoked");
	else if (expires > 0 && localtime_r(&expires, &parts))
		strftime(text, sizeof(text), "%Y-%m-%d %H:%M", &parts);
	columns_format(columns, "%s", text);
}

static void print_list(const struct reader *result)
{
	static const char *const HEADINGS[] = {"ID", "TENANT", "RIGHTS", "EXPIRES", "BY", "NAME", NULL};
	struct columns *columns = columns_create(HEADINGS);
	struct reader rows = query_field(result, "tokens"), row;

	while (query_next(&rows, &row)) {
		add_text(columns, &row, "id");
		add_text(columns, &row, "tenant");
		add_rights(columns, &row);
		add_expiry(columns, &row);
		add_text(columns, &row, "by");
		add_text(columns, &row, "name");
	}
	columns_print(columns, stdout);
}

static void print_nothing(const struct reader *result)
{
	(void)result;
}

/* ---- The command ---- */

static const struct verb {
	const char *name;
	size_t arguments; /* with the verb itself */
	const char *method;
	void (*write)(struct writer *params, const struct options *options);
	void (*print)(const struct reader *result);
	const char *not_found; /* said behind that error; NULL: nothing */
} VERBS[] = {
	{"new", 1, "token.create", write_new, print_new, NULL},
	{"ls", 1, "token.list", write_nothing, print_list, NULL},
	{"revoke", 2, "token.revoke", write_revoke, print_nothing, "`sandbar token ls` lists them"},
	{NULL, 0, NULL, NULL, NULL, NULL},
};

static const struct verb *find_verb(const struct options *options)
{
	const struct verb *verb = VERBS;

	while (verb->name && strcmp(verb->name, options->arguments[0]) != 0)
		verb++;
	return verb->name && verb->arguments == options->argument_count ? verb : NULL;
}

static int ask(struct context *context, const struct options *options, const struct verb *verb)
{
	struct writer params;
	struct query query;
	struct sandbar_error error;

	writer_init(&params, LIMIT_HELLO_BYTES);
	verb->write(&params, options);
	int outcome = query_begin(&query, context->sandbar, verb->method, params.data, params.length, &error);
	writer_finish(&params);
	if (outcome < 0) {
		int status = context_fail(context, NULL, &error);
		if (status == EXIT_NOT_FOUND && verb->not_found)
			context_say("%s", verb->not_found);
		return status;
	}
	if (options->json) {
		struct reader result = query.result;
		json_value(stdout, &result);
		putchar('\n');
	} else {
		verb->print(&query.result);
	}
	query_finish(&query);
	return EXIT_OK;
}

int command_token(struct options *options)
{
	const struct verb *verb = find_verb(options);
	struct context context;

	if (!verb) {
		context_say("it must be `token new`, `token ls` or `token revoke ID`");
		return EXIT_USAGE;
	}
	int status = context_connect(&context, options);
	if (status < 0)
		status = ask(&context, options, verb);
	context_finish(&context);
	return status;
}
