/* `token`: `new`, `link`, `ls`, `revoke`. */
#include "columns.h"
#include "commands.h"
#include "context.h"
#include "json.h"
#include "link.h"
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

/* MORE keys follow. */
static void write_token(struct writer *params, const struct options *options, const char *name, uint32_t more)
{
	writer_map(params, 1u + (options->tenant != NULL) + (options->rights != NULL) + (options->expires_ms > 0) + more);
	writer_key_str(params, "name", options->name ? options->name : name);
	if (options->tenant)
		writer_key_str(params, "tenant", options->tenant);
	if (options->rights)
		write_rights(params, options->rights);
	if (options->expires_ms > 0)
		writer_key_uint(params, "expires_ms", options->expires_ms);
}

static void write_new(struct writer *params, const struct options *options)
{
	write_token(params, options, "token", 0);
}

static void write_link(struct writer *params, const struct options *options)
{
	write_token(params, options, "browser", 1);
	writer_key_uint(params, "uses", 1);
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

static void print_new(const struct context *context, const struct reader *result)
{
	(void)context;
	struct view token = query_text(result, "token"), id = query_text(result, "id");

	printf("%.*s\n", (int)token.length, token.data);
	context_say("the token is shown only now; its id, for `token revoke`, is %.*s", (int)id.length, id.data);
}

static void print_link(const struct context *context, const struct reader *result)
{
	struct view id = query_text(result, "id");

	link_print(context->url, result);
	context_say("it signs one browser in, within an hour; its id, for `token revoke`, is %.*s", (int)id.length,
	            id.data);
}

static void print_link_json(const struct context *context, const struct reader *result)
{
	link_print_json(context->url, result, "id");
}

static void print_json(const struct context *context, const struct reader *result)
{
	struct reader reader = *result;

	(void)context;
	json_value(stdout, &reader);
	putchar('\n');
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

/* Of a link. */
static void add_uses(struct columns *columns, const struct reader *row)
{
	uint64_t uses = query_number(row, "uses");

	if (uses > 0)
		columns_format(columns, "%" PRIu64 "/%" PRIu64, query_number(row, "used"), uses);
	else
		columns_format(columns, "-");
}

static void print_list(const struct context *context, const struct reader *result)
{
	static const char *const HEADINGS[] = {"ID", "TENANT", "RIGHTS", "USED", "EXPIRES", "BY", "NAME", NULL};
	struct columns *columns = columns_create(HEADINGS);
	struct reader rows = query_field(result, "tokens"), row;

	(void)context;
	while (query_next(&rows, &row)) {
		add_text(columns, &row, "id");
		add_text(columns, &row, "tenant");
		add_rights(columns, &row);
		add_uses(columns, &row);
		add_expiry(columns, &row);
		add_text(columns, &row, "by");
		add_text(columns, &row, "name");
	}
	columns_print(columns, stdout);
}

static void print_nothing(const struct context *context, const struct reader *result)
{
	(void)context, (void)result;
}

/* ---- The command ---- */

static const struct verb {
	const char *name;
	size_t arguments; /* with the verb itself */
	const char *method;
	void (*write)(struct writer *params, const struct options *options);
	void (*print)(const struct context *context, const struct reader *result);
	void (*print_json)(const struct context *context, const struct reader *result);
	const char *not_found; /* said behind that error; NULL: nothing */
} VERBS[] = {
	{"new", 1, "token.create", write_new, print_new, print_json, NULL},
	{"link", 1, "token.create", write_link, print_link, print_link_json, NULL},
	{"ls", 1, "token.list", write_nothing, print_list, print_json, NULL},
	{"revoke", 2, "token.revoke", write_revoke, print_nothing, print_json, "`sandbar token ls` lists them"},
	{NULL, 0, NULL, NULL, NULL, NULL, NULL},
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
	if (options->json)
		verb->print_json(context, &query.result);
	else
		verb->print(context, &query.result);
	query_finish(&query);
	return EXIT_OK;
}

int command_token(struct options *options)
{
	const struct verb *verb = find_verb(options);
	struct context context;

	if (!verb) {
		context_say("it must be `token new`, `token link`, `token ls` or `token revoke ID`");
		return EXIT_USAGE;
	}
	int status = context_connect(&context, options);
	if (status < 0)
		status = ask(&context, options, verb);
	context_finish(&context);
	return status;
}
