#include "frame.h"

#include <string.h>

/* The type bytes of an OUTPUT header, where they stand. */
enum {
	AT_ARRAY = 0,
	AT_KIND = 1,
	AT_SEQ = 2,
	AT_TIME = 11,
	AT_PROCESS = 20,
	AT_STREAM = 25,
	AT_OFFSET = 26,
	AT_LENGTH = 35,
};
enum { ARRAY_OF_7 = 0x97, UINT_32 = 0xce, UINT_64 = 0xcf, BIN_32 = 0xc6 };

_Static_assert(AT_LENGTH + 1 + sizeof(uint32_t) == OUTPUT_HEADER_BYTES, "the header's fields fill it");

static void put_32(uint8_t *at, uint8_t type, uint32_t value)
{
	uint32_t big = __builtin_bswap32(value);
	*at = type;
	memcpy(at + 1, &big, sizeof big);
}

static void put_64(uint8_t *at, uint8_t type, uint64_t value)
{
	uint64_t big = __builtin_bswap64(value);
	*at = type;
	memcpy(at + 1, &big, sizeof big);
}

static uint32_t get_32(const uint8_t *at)
{
	uint32_t big;
	memcpy(&big, at + 1, sizeof big);
	return __builtin_bswap32(big);
}

static uint64_t get_64(const uint8_t *at)
{
	uint64_t big;
	memcpy(&big, at + 1, sizeof big);
	return __builtin_bswap64(big);
}

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the wire is big-endian: swap nothing on such a machine");

void channel_prefix_write(uint8_t at[CHANNEL_PREFIX_BYTES], uint32_t channel)
{
	put_32(at, UINT_32, channel);
}

void output_header_write(uint8_t at[OUTPUT_HEADER_BYTES], const struct output_header *header)
{
	at[AT_ARRAY] = ARRAY_OF_7;
	at[AT_KIND] = FRAME_OUTPUT;
	put_64(at + AT_SEQ, UINT_64, header->seq);
	put_64(at + AT_TIME, UINT_64, header->t_us);
	put_32(at + AT_PROCESS, UINT_32, header->process);
	at[AT_STREAM] = header->stream;
	put_64(at + AT_OFFSET, UINT_64, header->offset);
	put_32(at + AT_LENGTH, BIN_32, header->length);
}

bool output_header_read(const uint8_t *at, size_t length, struct output_header *header)
{
	if (length < OUTPUT_HEADER_BYTES || at[AT_ARRAY] != ARRAY_OF_7 || at[AT_KIND] != FRAME_OUTPUT)
		return false;
	if (at[AT_SEQ] != UINT_64 || at[AT_TIME] != UINT_64 || at[AT_PROCESS] != UINT_32)
		return false;
	if (!stream_name(at[AT_STREAM]) || at[AT_OFFSET] != UINT_64 || at[AT_LENGTH] != BIN_32)
		return false;
	*header = (struct output_header){
		.seq = get_64(at + AT_SEQ),
		.t_us = get_64(at + AT_TIME),
		.offset = get_64(at + AT_OFFSET),
		.process = get_32(at + AT_PROCESS),
		.length = get_32(at + AT_LENGTH),
		.stream = at[AT_STREAM],
	};
	return true;
}

static bool read_u32(struct reader *reader, uint32_t *value)
{
	struct reader before = *reader;
	uint64_t number;
	if (reader_uint(reader, &number) && number <= UINT32_MAX) {
		*value = (uint32_t)number;
		return true;
	}
	*reader = before;
	return false;
}

bool event_read(const uint8_t *frame, size_t length, struct event_frame *event)
{
	enum frame_direction direction;
	uint32_t values;
	*event = (struct event_frame){.fields = reader_over(frame, length)};
	if (!reader_array(&event->fields, &values) || values < 3 || !read_u32(&event->fields, &event->kind))
		return false;
	if (!frame_kind_direction(event->kind, &direction) || direction != DIRECTION_EVENT)
		return false;
	event->count = values - 3;
	return reader_uint(&event->fields, &event->seq) && reader_uint(&event->fields, &event->t_us);
}

bool event_head_read(const uint8_t *frame, size_t length, uint32_t *kind, uint64_t *seq, uint64_t *t_us)
{
	struct event_frame event;
	if (!event_read(frame, length, &event))
		return false;
	*kind = event.kind;
	*seq = event.seq;
	*t_us = event.t_us;
	return true;
}

/* Each part of an RPC frame is read by a function that returns what is wrong with it, or NULL. */

/* `[params]`: an array of one map, or of nothing. */
static const char *read_params(struct reader *frame, struct rpc *rpc)
{
	uint32_t count;
	if (!reader_array(frame, &count))
		return "params are not an array; they are [map] or []";
	if (count > 1)
		return "more than one element of params; they are [map] or []";
	rpc->params = (struct reader){frame->at, frame->at};
	if (count == 0)
		return NULL;
	if (reader_type(frame) != VALUE_MAP)
		return "params hold something other than a map; they are [map] or []";
	reader_skip(frame);
	rpc->params.end = frame->at;
	return NULL;
}

static const char *read_method(struct reader *frame, struct rpc *rpc)
{
	if (!reader_str(frame, &rpc->method))
		return "a method that is not text";
	return read_params(frame, rpc);
}

static const char *read_request(struct reader *frame, struct rpc *rpc, uint32_t fields)
{
	if (fields != 4)
		return "a request of a wrong number of fields; it is [0, id, method, [params]]";
	return read_method(frame, rpc);
}

static const char *read_response(struct reader *frame, struct rpc *rpc, uint32_t fields)
{
	if (fields < 4)
		return "a response of too few fields; it is [1, id, error, result]";
	rpc->error.at = frame->at;
	enum value_type type = reader_type(frame);
	reader_skip(frame);
	rpc->error.end = rpc->result.at = frame->at;
	reader_skip(frame);
	rpc->result.end = frame->at;
	return type == VALUE_NIL || type == VALUE_MAP ? NULL : "a response's error is neither nil nor a map";
}

static const char *read_notice(struct reader *frame, struct rpc *rpc, uint32_t fields)
{
	if (fields < 3)
		return "a notice of too few fields; it is [2, method, [params]]";
	return read_method(frame, rpc);
}

static const char *read_cancel(struct reader *frame, struct rpc *rpc, uint32_t fields)
{
	(void)frame;
	(void)rpc;
	return fields == 2 ? NULL : "a cancel of a wrong number of fields; it is [3, id]";
}

static const struct {
	bool has_id;
	const char *(*read)(struct reader *frame, struct rpc *rpc, uint32_t fields);
} RPC_FORMS[] = {
	[RPC_REQUEST] = {true, read_request},
	[RPC_RESPONSE] = {true, read_response},
	[RPC_NOTICE] = {false, read_notice},
	[RPC_CANCEL] = {true, read_cancel},
};

static const char *read_frame(struct reader *frame, struct rpc *rpc, bool *has_id)
{
	uint32_t fields, type;
	if (!reader_array(frame, &fields))
		return "a frame that is not an array";
	if (fields == 0 || !read_u32(frame, &type) || type > RPC_CANCEL)
		return "a frame of channel 0 that begins with none of 0, 1, 2, 3";
	rpc->type = (enum rpc_type)type;
	if (RPC_FORMS[type].has_id && (fields < 2 || !read_u32(frame, &rpc->id)))
		return "an id that is not an integer of 0 to 2^32-1";
	*has_id = type == RPC_REQUEST;
	return RPC_FORMS[type].read(frame, rpc, fields);
}

bool rpc_read(struct reader *reader, struct rpc *rpc, bool *has_id, const char **what)
{
	struct reader frame = *reader;
	*rpc = (struct rpc){.type = RPC_REQUEST};
	*has_id = false;
	*what = "a message without a frame";
	if (!reader_skip(reader))
		return false;
	frame.end = reader->at;
	*what = read_frame(&frame, rpc, has_id);
	return *what == NULL;
}
