/*
 * What a stranger may send as requests: bytes are checked and read as a door does, and the parameters of each request are
 * decoded by the rows of the method that it names, and by every other method's, too. No handler runs. What was decoded
 * must keep what the rows promise.
 */
#include "protocol/check.h"
#include "protocol/frame.h"
#include "server/api/method.h"
#include "server/session/context.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
	if (!condition)
		abort();
}

static const void *field(const struct param *row, const char *args)
{
	return args + row->offset;
}

static void expect_text(const struct param *row, const char *args)
{
	const char *text;
	memcpy(&text, field(row, args), sizeof text);
	require(!text || (strlen(text) >= row->least && strlen(text) <= row->most));
	require(!text || row->type == PARAM_TEXT || text[0] == '/');
}

static void expect_number(const struct param *row, const char *args)
{
	struct optional_uint number = {.has = true};
	memcpy(&number, field(row, args), row->type == PARAM_UINT ? sizeof number.value : sizeof number);
	require(!number.has || number.value <= row->most);
}

static void expect_choice(const struct param *row, const char *args)
{
	int choice, count = 0;
	memcpy(&choice, field(row, args), sizeof choice);
	while (row->choices[count])
		count++;
	require(choice >= -1 && choice < count);
}

static void expect_bytes(const struct param *row, const char *args)
{
	struct view bytes;
	memcpy(&bytes, field(row, args), sizeof bytes);
	volatile uint8_t sum = 0;
	for (uint32_t i = 0; i < bytes.length; i++)
		sum = (uint8_t)(sum + (uint8_t)bytes.data[i]);
	require(bytes.length <= row->most);
}

static const char *const *strings_of(const struct param *row, const char *args)
{
	static const char *const none[] = {NULL};
	const char *const *strings;
	memcpy(&strings, field(row, args), sizeof strings);
	return strings ? strings : none;
}

static void expect_strings(const struct param *row, const char *args)
{
	const char *const *strings = strings_of(row, args);
	size_t count = 0;
	for (; strings[count]; count++)
		require(strlen(strings[count]) <= LIMIT_ARGUMENT_BYTES);
	require(count == 0 || (count >= row->least && count <= row->most));
}

static void expect_env(const struct param *row, const char *args)
{
	expect_strings(row, args);
	for (const char *const *variable = strings_of(row, args); *variable; variable++) {
		const char *equals = strchr(*variable, '=');
		require(equals && equals > *variable);
	}
}

/* Names and texts in turn; the row's bound is one of bytes. */
static void expect_context(const struct param *row, const char *args)
{
	const char *const *notes = strings_of(row, args);
	size_t count = 0, bytes = 0;
	for (; notes[count]; count++) {
		size_t length = strlen(notes[count]);
		require(count % 2 == 1 ? length <= CONTEXT_TEXT_BYTES : length >= 1 && length <= CONTEXT_NAME_BYTES);
		bytes += length;
	}
	require(count % 2 == 0 && count <= 2 * (size_t)CONTEXT_ENTRIES && bytes <= row->most);
}

static void expect_uints(const struct param *row, const char *args)
{
	struct uint_list list;
	memcpy(&list, field(row, args), sizeof list);
	uint64_t sum = 0;
	for (size_t i = 0; list.values && i < list.count; i++)
		sum += list.values[i];
	require(list.count <= row->most && sum <= list.count * (uint64_t)UINT32_MAX);
}

static void expect_rows(const struct param *rows, const char *args);

static void expect_map(const struct param *row, const char *args)
{
	expect_rows(row->fields, args);
}

static void expect_bool(const struct param *row, const char *args)
{
	uint8_t byte;
	memcpy(&byte, field(row, args), sizeof byte);
	require(byte <= 1);
}

static void (*const expectations[])(const struct param *row, const char *args) = {
	[PARAM_TEXT] = expect_text,       [PARAM_PATH] = expect_text,       [PARAM_UINT] = expect_number,
	[PARAM_OPTIONAL] = expect_number, [PARAM_BOOL] = expect_bool,       [PARAM_CHOICE] = expect_choice,
	[PARAM_BYTES] = expect_bytes,     [PARAM_STRINGS] = expect_strings, [PARAM_ENV] = expect_env,
	[PARAM_CONTEXT] = expect_context, [PARAM_UINTS] = expect_uints,     [PARAM_MAP] = expect_map,
};

static void expect_rows(const struct param *rows, const char *args)
{
	for (const struct param *row = rows; row->name; row++)
		expectations[row->type](row, args);
}

static void expect_refusal(const struct params_error *error)
{
	require(error->code == CODE_INVALID_PARAMS || error->code == CODE_TOO_LARGE || error->code == CODE_LIMIT);
	require(error->field && error->message[0] && memchr(error->message, '\0', sizeof error->message));
}

/* By the rows of METHOD, into a struct that is exactly as large as the method's own, so that a write beside it is seen. */
static void decode(const struct method *method, struct reader params)
{
	char *args = calloc(1, method->size + 1);
	require(args != NULL);
	if (method->defaults)
		memcpy(args, method->defaults, method->size);
	struct arena arena = {.used = 0};
	struct params_error error = {0};
	if (params_decode(params, method->params, args, &arena, &error))
		expect_rows(method->params, args);
	else
		expect_refusal(&error);
	arena_finish(&arena);
	require(arena.used == 0);
	free(args);
}

static void take_request(const struct rpc *rpc)
{
	const struct method *named = method_find(rpc->method);
	if (named)
		decode(named, rpc->params);
	for (const struct method *method = methods; method->name; method++)
		if (method != named)
			decode(method, rpc->params);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct check_report report;
	if (!check_message(data, size, &report))
		return 0;
	struct reader reader = reader_over(data, size);
	uint64_t channel;
	if (!reader_uint(&reader, &channel))
		return 0;
	while (reader_type(&reader) != VALUE_END) {
		struct rpc rpc;
		bool has_id;
		const char *what;
		if (rpc_read(&reader, &rpc, &has_id, &what) && rpc.type == RPC_REQUEST)
			take_request(&rpc);
	}
	return 0;
}
