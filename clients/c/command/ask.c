#include "ask.h"

#include "json.h"
#include "query.h"
#include "protocol/wire.h"

void ask_begin(struct writer *params, uint32_t count, const char *session)
{
	writer_init(params, LIMIT_MESSAGE_BYTES);
	writer_map(params, count);
	writer_key_str(params, "session", session);
}

static void print_answer(const struct context *context, const struct reader *answer)
{
	struct reader result = *answer;

	(void)context;
	json_value(stdout, &result);
	putchar('\n');
}

int ask(struct context *context, const char *method, struct writer *params, ask_print print)
{
	return ask_either(context, method, params, print, print_answer);
}

int ask_either(struct context *context, const char *method, struct writer *params, ask_print print,
               ask_print print_json)
{
	struct query query;
	struct sandbar_error error;
	int outcome = query_begin(&query, context->sandbar, method, params->data, params->length, &error);

	writer_finish(params);
	if (outcome < 0)
		return context_fail(context, NULL, &error);
	if (context->options->json)
		print = print_json;
	if (print)
		print(context, &query.result);
	query_finish(&query);
	return EXIT_OK;
}
