#include "protocol/frame.h"
#include "protocol/check.h"
#include "protocol/writer.h"
#include "oracle.h"
#include "random.h"

#include <criterion/criterion.h>
#include <msgpack.h>
#include <string.h>

static uint64_t random_integer(struct random *random)
{
	return random_next(random) >> (11 + random_below(random, 53));
}

static void expect_integer(const msgpack_object *object, uint64_t value)
{
	cr_assert_eq(object->type, MSGPACK_OBJECT_POSITIVE_INTEGER);
	cr_assert_eq(object->via.u64, value);
}

/* The header is written by hand for its fixed widths; msgpack-c says whether it means what it should. */
static void expect_frame(const uint8_t *frame, size_t length, const struct output_header *header,
                         const uint8_t *payload)
{
	msgpack_unpacked unpacked;
	msgpack_unpacked_init(&unpacked);
	size_t offset = 0;
	cr_assert_eq(msgpack_unpack_next(&unpacked, (const char *)frame, length, &offset), MSGPACK_UNPACK_SUCCESS);
	cr_assert_eq(offset, length);
	cr_assert_eq(unpacked.data.type, MSGPACK_OBJECT_ARRAY);
	cr_assert_eq(unpacked.data.via.array.size, 7);
	const msgpack_object *fields = unpacked.data.via.array.ptr;
	const uint64_t numbers[] = {FRAME_OUTPUT,    header->seq,    header->t_us,
	                            header->process, header->stream, header->offset};
	for (size_t i = 0; i < 6; i++)
		expect_integer(&fields[i], numbers[i]);
	cr_assert_eq(fields[6].type, MSGPACK_OBJECT_BIN);
	cr_assert_eq(fields[6].via.bin.size, header->length);
	cr_assert_arr_eq(fields[6].via.bin.ptr, payload, header->length);
	msgpack_unpacked_destroy(&unpacked);
}

Test(frame, an_output_header_is_what_msgpack_c_reads)
{
	struct random random = {.state = 5};
	for (unsigned round = 0; round < 2000; round++) {
		struct output_header header = {
			.seq = random_integer(&random),
			.t_us = random_integer(&random),
			.offset = random_integer(&random),
			.process = (uint32_t)random_next(&random),
			.length = random_below(&random, 300),
			.stream = (uint8_t)(1 + random_below(&random, 3)),
		};
		struct output_header again;
		uint8_t frame[OUTPUT_HEADER_BYTES + 300];
		for (uint32_t i = 0; i < header.length; i++)
			frame[OUTPUT_HEADER_BYTES + i] = (uint8_t)random_next(&random);
		output_header_write(frame, &header);
		size_t length = OUTPUT_HEADER_BYTES + header.length;
		expect_frame(frame, length, &header, frame + OUTPUT_HEADER_BYTES);
		cr_assert(output_header_read(frame, OUTPUT_HEADER_BYTES, &again));
		cr_assert_eq(again.seq, header.seq);
		cr_assert_eq(again.t_us, header.t_us);
		cr_assert_eq(again.offset, header.offset);
		cr_assert_eq(again.process, header.process);
		cr_assert_eq(again.length, header.length);
		cr_assert_eq(again.stream, header.stream);
		uint32_t kind;
		uint64_t seq, t_us;
		cr_assert(event_head_read(frame, length, &kind, &seq, &t_us));
		cr_assert(kind == FRAME_OUTPUT && seq == header.seq && t_us == header.t_us);
	}
}

Test(frame, what_is_no_output_header_is_not_read)
{
	const struct output_header header = {.seq = 1, .t_us = 2, .process = 3, .stream = 1, .offset = 4, .length = 5};
	static const unsigned fixed[] = {0, 1, 2, 11, 20, 25, 26, 35};
	struct output_header again;
	uint8_t frame[OUTPUT_HEADER_BYTES];
	output_header_write(frame, &header);
	cr_expect_not(output_header_read(frame, OUTPUT_HEADER_BYTES - 1, &again));
	for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++) {
		output_header_write(frame, &header);
		frame[fixed[i]] ^= 0x10;
		cr_expect_not(output_header_read(frame, sizeof frame, &again), "byte %u", fixed[i]);
	}
}

Test(frame, a_channel_prefix_has_five_bytes_whatever_the_channel)
{
	static const uint32_t channels[] = {0, 1, 127, 65536, UINT32_MAX};
	for (size_t i = 0; i < sizeof channels / sizeof channels[0]; i++) {
		uint8_t prefix[CHANNEL_PREFIX_BYTES];
		uint64_t channel;
		channel_prefix_write(prefix, channels[i]);
		struct reader reader = reader_over(prefix, sizeof prefix);
		cr_expect(reader_uint(&reader, &channel) && channel == channels[i] && reader.at == reader.end);
		cr_expect(oracle_agrees(prefix, sizeof prefix));
	}
}

Test(frame, only_events_have_an_events_head)
{
	static const struct {
		const char *bytes;
		size_t length;
		bool is_event;
	} frames[] = {
		{"\x95\x05\x0b\x0c\x01\x02", 6, true},     /* INPUT, cut short after its head is fine */
		{"\x94\x0d\x0e\xcd\x01\x00\xa0", 7, true}, /* ENDED */
		{"\x93\x20\x01\x02", 4, false},            /* GAP from to */
		{"\x92\x23\x01", 3, false},                /* LIVE */
		{"\x94\x30\x01\x02\xc0", 5, false},        /* STDIN */
		{"\x94\x14\x01\x02\xc0", 5, false},        /* a kind that does not exist */
		{"\x92\x05\x0b", 3, false},                /* too short */
		{"\x93\x05\xa0\x01", 4, false},            /* seq is text */
		{"\x93\x05\x01\xff", 4, false},            /* t is negative */
		{"\x05", 1, false},
		{"\xa1x", 2, false},
		{"", 0, false},
	};
	for (size_t i = 0; i < sizeof frames / sizeof frames[0]; i++) {
		uint32_t kind;
		uint64_t seq, t_us;
		bool is_event = event_head_read((const uint8_t *)frames[i].bytes, frames[i].length, &kind, &seq, &t_us);
		cr_expect_eq(is_event, frames[i].is_event, "row %zu", i);
	}
}

/* A client reads a stored answer: each part is a view of just that part. */
Test(frame, an_rpc_frame_is_cut_into_its_parts)
{
	static const char message[] = "\x94\x00\x07\xa3run\x91\x81\xa1k\x01"
								  "\x94\x01\x07\xc0\x81\xa1k\x02"
								  "\x94\x01\x08\x81\xa4"
								  "code\xa1x\xc0"
								  "\x92\x03\x09";
	struct reader reader = reader_over(message, sizeof message - 1);
	struct rpc rpc;
	bool has_id;
	const char *what;
	uint32_t count;
	struct view view;
	uint64_t number;
	cr_assert(rpc_read(&reader, &rpc, &has_id, &what) && has_id);
	cr_assert(rpc.type == RPC_REQUEST && rpc.id == 7 && view_equals(rpc.method, "run"));
	cr_assert(reader_map(&rpc.params, &count) && count == 1 && reader_str(&rpc.params, &view));
	cr_assert(reader_uint(&rpc.params, &number) && number == 1 && reader_type(&rpc.params) == VALUE_END);
	cr_assert(rpc_read(&reader, &rpc, &has_id, &what) && !has_id);
	cr_assert(rpc.type == RPC_RESPONSE && rpc.id == 7 && reader_nil(&rpc.error));
	cr_assert(reader_map(&rpc.result, &count) && count == 1);
	cr_assert(rpc_read(&reader, &rpc, &has_id, &what));
	cr_assert(rpc.id == 8 && reader_map(&rpc.error, &count) && count == 1 && reader_nil(&rpc.result));
	cr_assert(rpc_read(&reader, &rpc, &has_id, &what));
	cr_assert(rpc.type == RPC_CANCEL && rpc.id == 9);
	cr_assert_not(rpc_read(&reader, &rpc, &has_id, &what));
	cr_assert_not_null(what);
}
