#include "decode.h"

#include "protocol/wire.h"

#include <string.h>

void decode_text(char *into, size_t size, struct view text)
{
	size_t length = text.length < size ? text.length : size - 1;

	while (length < text.length && length > 0 && ((unsigned char)text.data[length] & 0xc0) == 0x80)
		length--;
	memcpy(into, text.data, length);
	into[length] = '\0';
}

static const struct decode_key *find_key(const struct decode_key *keys, struct view name)
{
	while (keys->key && !view_equals(name, keys->key))
		keys++;
	return keys->key ? keys : NULL;
}

bool decode_map(struct reader *reader, const struct decode_key *keys, void *into)
{
	uint32_t count;
	struct view name;

	if (!reader_map(reader, &count))
		return false;
	for (uint32_t i = 0; i < count && reader_str(reader, &name); i++) {
		const struct decode_key *key = find_key(keys, name);
		if (!key || !key->read(reader, into))
			reader_skip(reader);
	}
	return true;
}

static bool read_text(struct reader *reader, char *into, size_t size)
{
	struct view text;

	if (!reader_str(reader, &text))
		return false;
	decode_text(into, size, text);
	return true;
}

#define TEXT_FIELD(type, field)                                          \
	static bool read_##type##_##field(struct reader *reader, void *into) \
	{                                                                    \
		struct sandbar_##type *value = into;                             \
		return read_text(reader, value->field, sizeof(value->field));    \
	}

#define NUMBER_FIELD(type, field)                                            \
	static bool read_##type##_##field(struct reader *reader, void *into)     \
	{                                                                        \
		return reader_uint(reader, &((struct sandbar_##type *)into)->field); \
	}

TEXT_FIELD(error, code)
TEXT_FIELD(error, message)

static const struct decode_key ERROR_KEYS[] = {
	{"code", read_error_code},
	{"message", read_error_message},
	{NULL, NULL},
};

bool decode_error(struct reader *reader, struct sandbar_error *error)
{
	*error = (struct sandbar_error){0};
	return decode_map(reader, ERROR_KEYS, error);
}

bool decode_error_number(struct reader data, const char *name, uint64_t *number)
{
	uint32_t count;
	struct view key;

	if (!reader_map(&data, &count))
		return false;
	for (uint32_t i = 0; i < count && reader_str(&data, &key); i++) {
		if (view_equals(key, name))
			return reader_uint(&data, number);
		reader_skip(&data);
	}
	return false;
}

TEXT_FIELD(ending, signal)
TEXT_FIELD(ending, reason)
TEXT_FIELD(ending, control)
TEXT_FIELD(ending, message)
NUMBER_FIELD(ending, wall_us)
NUMBER_FIELD(ending, user_us)
NUMBER_FIELD(ending, system_us)
NUMBER_FIELD(ending, memory_peak)

static bool read_exit_code(struct reader *reader, void *into)
{
	struct sandbar_ending *ending = into;
	uint64_t code;

	if (!reader_uint(reader, &code))
		return false;
	ending->exit_code = (int)(code & 0xff);
	return true;
}

static unsigned stream_number(struct view name)
{
	for (unsigned stream = STREAM_STDOUT; stream < SANDBAR_STREAMS; stream++)
		if (view_equals(name, stream_name(stream)))
			return stream;
	return 0;
}

bool decode_offsets(struct reader *reader, struct sandbar_ending *ending)
{
	uint32_t count;
	struct view name;

	if (!reader_map(reader, &count))
		return false;
	for (uint32_t i = 0; i < count && reader_str(reader, &name); i++) {
		unsigned stream = stream_number(name);
		if (stream && reader_uint(reader, &ending->offsets[stream]))
			ending->has_offset[stream] = true;
		else
			reader_skip(reader);
	}
	return true;
}

static bool read_offsets(struct reader *reader, void *into)
{
	return decode_offsets(reader, into);
}

static bool read_open_streams(struct reader *reader, void *into)
{
	struct sandbar_ending *ending = into;
	uint32_t count;
	struct view name;

	if (!reader_array(reader, &count))
		return false;
	for (uint32_t i = 0; i < count; i++) {
		if (reader_str(reader, &name))
			ending->open[stream_number(name)] = true;
		else
			reader_skip(reader);
	}
	ending->open[0] = false;
	return true;
}

static const struct decode_key USAGE_KEYS[] = {
	{"wall_us", read_ending_wall_us},
	{"user_us", read_ending_user_us},
	{"system_us", read_ending_system_us},
	{"memory_peak", read_ending_memory_peak},
	{NULL, NULL},
};

static bool read_usage(struct reader *reader, void *into)
{
	return decode_map(reader, USAGE_KEYS, into);
}

static const struct decode_key ENDING_KEYS[] = {
	{"exit_code", read_exit_code},
	{"signal", read_ending_signal},
	{"reason", read_ending_reason},
	{"control", read_ending_control},
	{"message", read_ending_message},
	{"offsets", read_offsets},
	{"streams_open", read_open_streams},
	{"usage", read_usage},
	{NULL, NULL},
};

bool decode_ending(struct reader *reader, struct sandbar_ending *ending)
{
	*ending = (struct sandbar_ending){.exit_code = -1};
	return decode_map(reader, ENDING_KEYS, ending);
}
