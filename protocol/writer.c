#include "writer.h"

#include "check.h"

#include <assert.h>
#include <msgpack/pack.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_CAPACITY = 256 };

/* Make room for MORE bytes; false, and the writer failed, if they would pass the bound. */
static bool reserve(struct writer *writer, size_t more)
{
	if (writer->failed || more > writer->bound - writer->length) {
		writer->failed = true;
		return false;
	}
	size_t needed = writer->length + more;
	if (needed <= writer->capacity)
		return true;
	size_t capacity = writer->capacity > 0 ? writer->capacity : FIRST_CAPACITY;
	while (capacity < needed)
		capacity *= 2;
	if (capacity > writer->bound)
		capacity = writer->bound;
	uint8_t *data = realloc(writer->data, capacity);
	if (!data)
		abort();
	writer->data = data;
	writer->capacity = capacity;
	return true;
}

static int append(void *data, const char *bytes, size_t length)
{
	struct writer *writer = data;
	if (!reserve(writer, length))
		return -1;
	if (length > 0)
		memcpy(writer->data + writer->length, bytes, length);
	writer->length += length;
	return 0;
}

static msgpack_packer packer_of(struct writer *writer)
{
	return (msgpack_packer){writer, append};
}

void writer_init(struct writer *writer, size_t bound)
{
	assert(bound <= SIZE_MAX / 2); /* so that doubling cannot wrap */
	*writer = (struct writer){.bound = bound};
}

void writer_finish(struct writer *writer)
{
	free(writer->data);
	*writer = (struct writer){.bound = writer->bound};
}

void writer_reset(struct writer *writer)
{
	writer->length = 0;
	writer->failed = false;
}

uint8_t *writer_steal(struct writer *writer, size_t *length)
{
	uint8_t *data = writer->data;
	*length = writer->length;
	*writer = (struct writer){.bound = writer->bound};
	return data;
}

void writer_nil(struct writer *writer)
{
	msgpack_packer packer = packer_of(writer);
	msgpack_pack_nil(&packer);
}

void writer_bool(struct writer *writer, bool value)
{
	msgpack_packer packer = packer_of(writer);
	if (value)
		msgpack_pack_true(&packer);
	else
		msgpack_pack_false(&packer);
}

void writer_uint(struct writer *writer, uint64_t value)
{
	msgpack_packer packer = packer_of(writer);
	msgpack_pack_uint64(&packer, value);
}

void writer_int(struct writer *writer, int64_t value)
{
	msgpack_packer packer = packer_of(writer);
	msgpack_pack_int64(&packer, value);
}

/* How many bytes the character at TEXT has; 0: it is none. */
static size_t character(const char *text, size_t length)
{
	for (size_t bytes = 1; bytes <= 4 && bytes <= length; bytes++)
		if (check_utf8((const uint8_t *)text, bytes))
			return bytes;
	return 0;
}

static void mend(char *text, size_t length)
{
	for (size_t at = 0; at < length;) {
		size_t bytes = character(text + at, length - at);
		if (bytes == 0)
			text[at] = '?';
		at += bytes > 0 ? bytes : 1;
	}
}

void writer_str(struct writer *writer, const char *text)
{
	if (!text) {
		writer_nil(writer);
		return;
	}
	size_t length = strlen(text);
	writer_strn(writer, text, length);
	if (!writer->failed && !check_utf8((const uint8_t *)text, length))
		mend((char *)writer->data + writer->length - length, length);
}

/* Text and bytes are packed only where head and body fit: a length over 32 bits has no form. */
static bool fits(struct writer *writer, size_t length)
{
	if (length > UINT32_MAX)
		writer->failed = true;
	return !writer->failed;
}

void writer_strn(struct writer *writer, const char *text, size_t length)
{
	msgpack_packer packer = packer_of(writer);
	if (fits(writer, length) && msgpack_pack_str(&packer, length) == 0)
		append(writer, text, length);
}

void writer_bin(struct writer *writer, const void *bytes, size_t length)
{
	msgpack_packer packer = packer_of(writer);
	if (fits(writer, length) && msgpack_pack_bin(&packer, length) == 0)
		append(writer, bytes, length);
}

void writer_array(struct writer *writer, uint32_t count)
{
	msgpack_packer packer = packer_of(writer);
	msgpack_pack_array(&packer, count);
}

void writer_map(struct writer *writer, uint32_t count)
{
	msgpack_packer packer = packer_of(writer);
	msgpack_pack_map(&packer, count);
}

void writer_raw(struct writer *writer, const void *bytes, size_t length)
{
	append(writer, bytes, length);
}

void writer_key_str(struct writer *writer, const char *key, const char *text)
{
	writer_str(writer, key);
	writer_str(writer, text);
}

void writer_key_uint(struct writer *writer, const char *key, uint64_t value)
{
	writer_str(writer, key);
	writer_uint(writer, value);
}

void writer_key_bool(struct writer *writer, const char *key, bool value)
{
	writer_str(writer, key);
	writer_bool(writer, value);
}

void writer_key_nil(struct writer *writer, const char *key)
{
	writer_str(writer, key);
	writer_nil(writer);
}
