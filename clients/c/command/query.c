#include "query.h"

#include "clients/c/decode.h"
#include "protocol/wire.h"
#include "protocol/writer.h"

#include <stdlib.h>

int query_begin(struct query *query, struct sandbar *sandbar, const char *method, const void *params, size_t length,
                struct sandbar_error *error)
{
	size_t size = 0;

	*query = (struct query){0};
	if (sandbar_call(sandbar, method, params, length, &query->bytes, &size, error) < 0)
		return -1;
	query->result = reader_over(query->bytes, size);
	return 0;
}

static void write_params(struct writer *params, const char *session, uint32_t process)
{
	writer_init(params, LIMIT_MESSAGE_BYTES);
	writer_map(params, process ? 2 : 1);
	writer_key_str(params, "session", session);
	if (process)
		writer_key_uint(params, "process", process);
}

int query_session(struct query *query, struct sandbar *sandbar, const char *method, const char *session,
                  uint32_t process, struct sandbar_error *error)
{
	struct writer params;

	write_params(&params, session, process);
	int status = query_begin(query, sandbar, method, params.data, params.length, error);
	writer_finish(&params);
	return status;
}

int query_sessions(struct query *query, struct sandbar *sandbar, bool ended, struct sandbar_error *error)
{
	struct writer params;

	writer_init(&params, LIMIT_MESSAGE_BYTES);
	writer_map(&params, 1);
	writer_key_bool(&params, "ended", ended);
	int status = query_begin(query, sandbar, "session.list", params.data, params.length, error);
	writer_finish(&params);
	return status;
}

void query_wait(struct sandbar *sandbar, const char *session, uint32_t process, sandbar_answer answer, void *user)
{
	struct writer params;

	write_params(&params, session, process);
	sandbar_request(sandbar, "process.wait", params.data, params.length, answer, user, NULL);
	writer_finish(&params);
}

bool query_ending(const void *result, size_t length, struct sandbar_ending *ending)
{
	struct reader reader = reader_over(result, length);

	return decode_ending(&reader, ending);
}

void query_finish(struct query *query)
{
	free(query->bytes);
	*query = (struct query){0};
}

struct reader query_field(const struct reader *map, const char *key)
{
	struct reader at = *map;
	struct view name;
	uint32_t count;

	if (!reader_map(&at, &count))
		return (struct reader){0};
	for (uint32_t i = 0; i < count && reader_str(&at, &name); i++) {
		if (view_equals(name, key))
			return at;
		reader_skip(&at);
	}
	return (struct reader){0};
}

struct view query_text(const struct reader *map, const char *key)
{
	struct reader at = query_field(map, key);
	struct view text = {"", 0};

	reader_str(&at, &text);
	return text;
}

uint64_t query_number(const struct reader *map, const char *key)
{
	struct reader at = query_field(map, key);
	uint64_t number = 0;

	reader_uint(&at, &number);
	return number;
}

bool query_truth(const struct reader *map, const char *key)
{
	struct reader at = query_field(map, key);
	bool truth = false;

	reader_bool(&at, &truth);
	return truth;
}

bool query_is_nil(const struct reader *map, const char *key)
{
	struct reader at = query_field(map, key);
	enum value_type type = reader_type(&at);

	return type == VALUE_NIL || type == VALUE_END;
}

/* The array's end is the reader's own: it is cut to the array at the first call. Elements are never arrays here. */
bool query_next(struct reader *rows, struct reader *row)
{
	uint32_t count;
	struct reader whole = *rows;

	if (reader_type(rows) == VALUE_ARRAY) {
		reader_skip(&whole);
		rows->end = whole.at;
		reader_array(rows, &count);
	}
	*row = *rows;
	return reader_skip(rows);
}
