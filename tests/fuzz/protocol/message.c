/*
 * What a stranger may send as one WebSocket message: check it, walk it as a server does, and ask msgpack-c whether what
 * passed means the same to it. Bytes that were not checked may be walked too, without leaving them.
 */
#include "protocol/check.h"
#include "protocol/frame.h"
#include "tests/unit/protocol/oracle.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
	if (!condition)
		abort();
}

/* True if a reader comes over all values to the end. */
static bool can_skip_all(const uint8_t *data, size_t size)
{
	struct reader reader = reader_over(data, size);
	while (reader_skip(&reader))
		;
	return reader.at == reader.end;
}

static void walk_value(struct reader *reader)
{
	uint32_t count;
	struct view view;
	if (reader_map(reader, &count)) {
		for (uint32_t i = 0; i < count; i++) {
			require(reader_str(reader, &view) && check_utf8((const uint8_t *)view.data, view.length));
			walk_value(reader);
		}
	} else if (reader_array(reader, &count)) {
		for (uint32_t i = 0; i < count; i++)
			walk_value(reader);
	} else {
		require(reader_skip(reader));
	}
}

static void walk_frames(struct reader reader)
{
	while (reader_type(&reader) != VALUE_END) {
		const uint8_t *before = reader.at;
		struct rpc rpc;
		bool has_id;
		const char *what;
		bool good = rpc_read(&reader, &rpc, &has_id, &what);
		require(reader.at > before && good == (what == NULL));
		require(!has_id || rpc.type == RPC_REQUEST);
		if (good && rpc.params.at != rpc.params.end)
			walk_value(&rpc.params);
		require(!good || rpc.params.at == rpc.params.end);
		uint32_t kind;
		uint64_t seq, t_us;
		if (event_head_read(before, (size_t)(reader.at - before), &kind, &seq, &t_us))
			require(frame_kind_name(kind) != NULL && seq <= WIRE_INTEGER_MAX && t_us <= WIRE_INTEGER_MAX);
	}
}

static void walk_unchecked(const uint8_t *data, size_t size)
{
	uint32_t kind;
	uint64_t seq, t_us;
	struct output_header header;
	event_head_read(data, size, &kind, &seq, &t_us);
	output_header_read(data, size, &header);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct check_report report;
	walk_unchecked(data, size);
	if (!check_message(data, size, &report)) {
		require(report.code != ERROR_CODE_NONE && report.what && report.at <= size);
		require(report.code != CODE_MALFORMED || size == 0 || !can_skip_all(data, size));
		return 0;
	}
	require(report.code == ERROR_CODE_NONE && report.values > 0 && can_skip_all(data, size));
	require(oracle_agrees(data, size));
	struct reader reader = reader_over(data, size);
	for (size_t i = 0; i < report.values; i++)
		walk_value(&reader);
	reader = reader_over(data, size);
	reader_skip(&reader);
	walk_frames(reader);
	return 0;
}
