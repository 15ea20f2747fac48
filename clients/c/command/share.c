/* `share`: links to a session. */
#include "ask.h"
#include "columns.h"
#include "commands.h"
#include "link.h"
#include "query.h"
#include "when.h"

#include <inttypes.h>
#include <string.h>

static void print_link_json(const struct context *context, const struct reader *result)
{
	link_print_json(context->url, result, "share");
}

static void print_link(const struct context *context, const struct reader *result)
{
	const struct options *options = context->options;
	struct view share = query_text(result, "share");
	uint64_t uses = options->uses ? options->uses : 1;

	link_print(context->url, result);
	context_say("it lets %" PRIu64 " client%s in as %s; `sandbar share revoke` takes it back by its id, %.*s", uses,
	            uses == 1 ? "" : "s", options->role ? options->role : "viewer", (int)share.length, share.data);
}

static int make(struct context *context, const char *session)
{
	const struct options *options = context->options;
	struct writer params;

	ask_begin(&params, 2u + (options->name != NULL) + (options->expires_ms > 0) + (options->uses > 0), session);
	writer_key_str(&params, "role", options->role ? options->role : "viewer");
	if (options->name)
		writer_key_str(&params, "name", options->name);
	if (options->expires_ms > 0)
		writer_key_uint(&params, "expires_ms", options->expires_ms);
	if (options->uses > 0)
		writer_key_uint(&params, "uses", options->uses);
	return ask_either(context, "session.share", &params, print_link, print_link_json);
}

static void add_text(struct columns *columns, const struct reader *row, const char *key)
{
	struct view text = query_text(row, key);

	columns_add(columns, text.data, text.length);
}

static void add_state(struct columns *columns, const struct reader *row)
{
	const char *state = query_truth(row, "revoked") ? "revoked" : query_truth(row, "open") ? "open" : "closed";

	columns_format(columns, "%s", state);
}

static void print_shares(const struct context *context, const struct reader *result)
{
	static const char *const HEADINGS[] = {"SHARE", "ROLE", "STATE", "USED", "EXPIRES", "BY", "NAME", NULL};
	struct columns *columns = columns_create(HEADINGS);
	struct reader rows = query_field(result, "shares"), row;
	char expires[WHEN_BYTES];

	(void)context;
	while (query_next(&rows, &row)) {
		add_text(columns, &row, "share");
		add_text(columns, &row, "role");
		add_state(columns, &row);
		columns_format(columns, "%" PRIu64 "/%" PRIu64, query_number(&row, "used"), query_number(&row, "uses"));
		when_format(query_number(&row, "expires_us"), "never", expires);
		columns_format(columns, "%s", expires);
		add_text(columns, &row, "by");
		add_text(columns, &row, "name");
	}
	columns_print(columns, stdout);
}

static int list(struct context *context, const char *session)
{
	struct writer params;

	ask_begin(&params, 1, session);
	return ask(context, "session.shares", &params, print_shares);
}

static int revoke(struct context *context, const char *session)
{
	struct writer params;

	ask_begin(&params, 2, session);
	writer_key_str(&params, "share", context->options->arguments[2]);
	int status = ask(context, "session.unshare", &params, NULL);
	if (status == EXIT_NOT_FOUND)
		context_say("`sandbar share ls %s` lists its links", session);
	return status;
}

static const struct verb {
	const char *name; /* NULL: none is written */
	size_t arguments; /* with the verb itself */
	size_t session;   /* which of them is the session */
	int (*run)(struct context *context, const char *session);
} VERBS[] = {{"ls", 2, 1, list}, {"revoke", 3, 1, revoke}, {NULL, 1, 0, make}};

static const struct verb *find_verb(const struct options *options)
{
	for (size_t i = 0; i < sizeof(VERBS) / sizeof(VERBS[0]); i++)
		if (VERBS[i].arguments == options->argument_count &&
		    (!VERBS[i].name || strcmp(VERBS[i].name, options->arguments[0]) == 0))
			return &VERBS[i];
	return NULL;
}

int command_share(struct options *options)
{
	const struct verb *verb = find_verb(options);
	char session[SANDBAR_SESSION_BYTES];
	struct context context;

	if (!verb) {
		context_say("it must be `share SESSION`, `share ls SESSION` or `share revoke SESSION SHARE`");
		return EXIT_USAGE;
	}
	int status = context_connect(&context, options);
	if (status < 0)
		status = context_session(&context, options->arguments[verb->session], session);
	if (status < 0)
		status = verb->run(&context, session);
	context_finish(&context);
	return status;
}
