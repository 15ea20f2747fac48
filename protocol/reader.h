/*
 * reader.h: a cursor over MessagePack that check.h has passed. It never allocates; strings and bytes are views
 * into the message. A typed read of another type returns false and leaves the cursor where it was.
 */
#ifndef SANDBAR_READER_H
#define SANDBAR_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct reader {
	const uint8_t *at, *end;
};

struct view { /* borrowed bytes */
	const char *data;
	uint32_t length;
};

enum value_type {
	VALUE_END,
	VALUE_NIL,
	VALUE_BOOL,
	VALUE_UINT,
	VALUE_NEGATIVE,
	VALUE_FLOAT,
	VALUE_STR,
	VALUE_BIN,
	VALUE_ARRAY,
	VALUE_MAP
};

struct reader reader_over(const void *data, size_t length);
enum value_type reader_type(const struct reader *reader); /* of the next value; VALUE_END when there is none */
const char *value_type_name(enum value_type type);        /* "an integer", "text", ... for error texts */

bool reader_nil(struct reader *reader);
bool reader_bool(struct reader *reader, bool *value);
bool reader_uint(struct reader *reader, uint64_t *value); /* also a signed form that is not negative */
bool reader_int(struct reader *reader, int64_t *value);
bool reader_float(struct reader *reader, double *value);
bool reader_str(struct reader *reader, struct view *text);
bool reader_bin(struct reader *reader, struct view *bytes);
bool reader_array(struct reader *reader, uint32_t *count); /* then COUNT values follow */
bool reader_map(struct reader *reader, uint32_t *count);   /* then COUNT pairs of key and value follow */
bool reader_skip(struct reader *reader);                   /* over one whole value; false at the end */

bool view_equals(struct view view, const char *text);

#endif
