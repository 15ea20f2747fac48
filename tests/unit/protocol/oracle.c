#include "oracle.h"

#include <math.h>
#include <msgpack.h>
#include <string.h>

static bool same_value(struct reader *reader, const msgpack_object *object);

static bool same_nil(struct reader *reader, const msgpack_object *object)
{
	(void)object;
	return reader_nil(reader);
}

static bool same_bool(struct reader *reader, const msgpack_object *object)
{
	bool value;
	return reader_bool(reader, &value) && value == object->via.boolean;
}

static bool same_uint(struct reader *reader, const msgpack_object *object)
{
	struct reader again = *reader;
	uint64_t value;
	int64_t as_signed;
	if (!reader_uint(reader, &value) || value != object->via.u64)
		return false;
	return value > INT64_MAX || (reader_int(&again, &as_signed) && (uint64_t)as_signed == value);
}

static bool same_negative(struct reader *reader, const msgpack_object *object)
{
	int64_t value;
	uint64_t never;
	return !reader_uint(reader, &never) && reader_int(reader, &value) && value == object->via.i64;
}

static bool same_float(struct reader *reader, const msgpack_object *object)
{
	double value;
	if (!reader_float(reader, &value))
		return false;
	return (isnan(value) && isnan(object->via.f64)) || memcmp(&value, &object->via.f64, sizeof value) == 0;
}

static bool same_bytes(struct view view, const char *data, uint32_t length)
{
	return view.length == length && (length == 0 || memcmp(view.data, data, length) == 0);
}

static bool same_str(struct reader *reader, const msgpack_object *object)
{
	struct view view;
	return reader_str(reader, &view) && same_bytes(view, object->via.str.ptr, object->via.str.size);
}

static bool same_bin(struct reader *reader, const msgpack_object *object)
{
	struct view view;
	return reader_bin(reader, &view) && same_bytes(view, object->via.bin.ptr, object->via.bin.size);
}

static bool same_array(struct reader *reader, const msgpack_object *object)
{
	uint32_t count;
	if (!reader_array(reader, &count) || count != object->via.array.size)
		return false;
	for (uint32_t i = 0; i < count; i++)
		if (!same_value(reader, &object->via.array.ptr[i]))
			return false;
	return true;
}

static bool same_map(struct reader *reader, const msgpack_object *object)
{
	uint32_t count;
	if (!reader_map(reader, &count) || count != object->via.map.size)
		return false;
	for (uint32_t i = 0; i < count; i++)
		if (!same_value(reader, &object->via.map.ptr[i].key) || !same_value(reader, &object->via.map.ptr[i].val))
			return false;
	return true;
}

static const struct {
	enum value_type type;
	bool (*same)(struct reader *reader, const msgpack_object *object);
} ORACLE_TYPES[] = {
	[MSGPACK_OBJECT_NIL] = {VALUE_NIL, same_nil},
	[MSGPACK_OBJECT_BOOLEAN] = {VALUE_BOOL, same_bool},
	[MSGPACK_OBJECT_POSITIVE_INTEGER] = {VALUE_UINT, same_uint},
	[MSGPACK_OBJECT_NEGATIVE_INTEGER] = {VALUE_NEGATIVE, same_negative},
	[MSGPACK_OBJECT_FLOAT32] = {VALUE_FLOAT, same_float},
	[MSGPACK_OBJECT_FLOAT64] = {VALUE_FLOAT, same_float},
	[MSGPACK_OBJECT_STR] = {VALUE_STR, same_str},
	[MSGPACK_OBJECT_BIN] = {VALUE_BIN, same_bin},
	[MSGPACK_OBJECT_ARRAY] = {VALUE_ARRAY, same_array},
	[MSGPACK_OBJECT_MAP] = {VALUE_MAP, same_map},
};

/* The types agree, the values agree, and reader_skip() passes over just as many bytes as reading. */
static bool same_value(struct reader *reader, const msgpack_object *object)
{
	struct reader skipped = *reader;
	if ((size_t)object->type >= sizeof ORACLE_TYPES / sizeof ORACLE_TYPES[0] || !ORACLE_TYPES[object->type].same)
		return false;
	if (reader_type(reader) != ORACLE_TYPES[object->type].type)
		return false;
	if (!ORACLE_TYPES[object->type].same(reader, object))
		return false;
	return reader_skip(&skipped) && skipped.at == reader->at;
}

bool oracle_agrees(const void *data, size_t length)
{
	struct reader reader = reader_over(data, length);
	msgpack_unpacked unpacked;
	msgpack_unpacked_init(&unpacked);
	size_t offset = 0;
	bool agrees = true;
	while (agrees && offset < length) {
		agrees = msgpack_unpack_next(&unpacked, data, length, &offset) == MSGPACK_UNPACK_SUCCESS;
		agrees = agrees && same_value(&reader, &unpacked.data);
		agrees = agrees && reader.at == (const uint8_t *)data + offset;
	}
	msgpack_unpacked_destroy(&unpacked);
	return agrees && reader_type(&reader) == VALUE_END;
}
