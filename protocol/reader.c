#include "reader.h"

#include "head.h"

#include <string.h>

static const enum value_type VALUE_TYPES[HEAD_TYPE_COUNT] = {
	[HEAD_INVALID] = VALUE_END,       [HEAD_NIL] = VALUE_NIL,     [HEAD_BOOL] = VALUE_BOOL, [HEAD_UINT] = VALUE_UINT,
	[HEAD_NEGATIVE] = VALUE_NEGATIVE, [HEAD_FLOAT] = VALUE_FLOAT, [HEAD_STR] = VALUE_STR,   [HEAD_BIN] = VALUE_BIN,
	[HEAD_ARRAY] = VALUE_ARRAY,       [HEAD_MAP] = VALUE_MAP,     [HEAD_EXT] = VALUE_END,
};

static const char *const VALUE_TYPE_NAMES[] = {
	[VALUE_END] = "nothing",
	[VALUE_NIL] = "nil",
	[VALUE_BOOL] = "a boolean",
	[VALUE_UINT] = "an integer",
	[VALUE_NEGATIVE] = "a negative integer",
	[VALUE_FLOAT] = "a floating-point number",
	[VALUE_STR] = "text",
	[VALUE_BIN] = "bytes",
	[VALUE_ARRAY] = "an array",
	[VALUE_MAP] = "a map",
};

struct reader reader_over(const void *data, size_t length)
{
	const uint8_t *at = data;
	return (struct reader){at, length > 0 ? at + length : at};
}

enum value_type reader_type(const struct reader *reader)
{
	struct head head;
	return head_read(reader->at, reader->end, &head) ? VALUE_TYPES[head.type] : VALUE_END;
}

const char *value_type_name(enum value_type type)
{
	return VALUE_TYPE_NAMES[type];
}

/* The head of the next value, if it is of TYPE. */
static bool expect(const struct reader *reader, enum head_type type, struct head *head)
{
	return head_read(reader->at, reader->end, head) && head->type == type;
}

bool reader_nil(struct reader *reader)
{
	struct head head;
	if (!expect(reader, HEAD_NIL, &head))
		return false;
	reader->at += head.bytes;
	return true;
}

bool reader_bool(struct reader *reader, bool *value)
{
	struct head head;
	if (!expect(reader, HEAD_BOOL, &head))
		return false;
	*value = head.number != 0;
	reader->at += head.bytes;
	return true;
}

bool reader_uint(struct reader *reader, uint64_t *value)
{
	struct head head;
	if (!expect(reader, HEAD_UINT, &head))
		return false;
	*value = head.number;
	reader->at += head.bytes;
	return true;
}

bool reader_int(struct reader *reader, int64_t *value)
{
	struct head head;
	if (!head_read(reader->at, reader->end, &head))
		return false;
	if (head.type != HEAD_NEGATIVE && (head.type != HEAD_UINT || head.number > INT64_MAX))
		return false;
	*value = (int64_t)head.number;
	reader->at += head.bytes;
	return true;
}

bool reader_float(struct reader *reader, double *value)
{
	struct head head;
	if (!expect(reader, HEAD_FLOAT, &head))
		return false;
	if (head.bytes == 1 + sizeof(float)) {
		uint32_t bits = (uint32_t)head.number;
		float single;
		memcpy(&single, &bits, sizeof single);
		*value = (double)single;
	} else {
		memcpy(value, &head.number, sizeof *value);
	}
	reader->at += head.bytes;
	return true;
}

static bool read_view(struct reader *reader, enum head_type type, struct view *view)
{
	struct head head;
	if (!expect(reader, type, &head) || head.number > (size_t)(reader->end - reader->at) - head.bytes)
		return false;
	*view = (struct view){(const char *)reader->at + head.bytes, (uint32_t)head.number};
	reader->at += head.bytes + head.number;
	return true;
}

bool reader_str(struct reader *reader, struct view *text)
{
	return read_view(reader, HEAD_STR, text);
}

bool reader_bin(struct reader *reader, struct view *bytes)
{
	return read_view(reader, HEAD_BIN, bytes);
}

static bool read_count(struct reader *reader, enum head_type type, uint32_t *count)
{
	struct head head;
	if (!expect(reader, type, &head))
		return false;
	*count = (uint32_t)head.number;
	reader->at += head.bytes;
	return true;
}

bool reader_array(struct reader *reader, uint32_t *count)
{
	return read_count(reader, HEAD_ARRAY, count);
}

bool reader_map(struct reader *reader, uint32_t *count)
{
	return read_count(reader, HEAD_MAP, count);
}

/* How much a head announces: values to come after it, and bytes that belong to it. */
static uint64_t values_after(const struct head *head)
{
	if (head->type == HEAD_ARRAY)
		return head->number;
	return head->type == HEAD_MAP ? 2 * head->number : 0;
}

static uint64_t bytes_after(const struct head *head)
{
	return head->type == HEAD_STR || head->type == HEAD_BIN ? head->number : 0;
}

bool reader_skip(struct reader *reader)
{
	const uint8_t *at = reader->at;
	for (uint64_t values = 1; values > 0; values--) {
		struct head head;
		if (!head_read(at, reader->end, &head) || VALUE_TYPES[head.type] == VALUE_END)
			return false;
		at += head.bytes;
		if (bytes_after(&head) > (size_t)(reader->end - at))
			return false;
		at += bytes_after(&head);
		values += values_after(&head);
	}
	reader->at = at;
	return true;
}

bool view_equals(struct view view, const char *text)
{
	return strlen(text) == view.length && (view.length == 0 || memcmp(view.data, text, view.length) == 0);
}
