/*
 * frame.h: the parts of a message that are written and read by hand, because they are hot: the channel number and
 * the header of OUTPUT, at fixed widths, so that a header can be written after its payload was read into place.
 *
 *   OUTPUT = 97 01 cf seq:8 cf t:8 ce process:4 stream:1 cf offset:8 c6 length:4 payload
 */
#ifndef SANDBAR_FRAME_H
#define SANDBAR_FRAME_H

#include "reader.h"
#include "wire.h"

enum {
	CHANNEL_PREFIX_BYTES = 5, /* ce channel:4 */
	OUTPUT_HEADER_BYTES = 40,
};

struct output_header {
	uint64_t seq, t_us, offset;
	uint32_t process, length;
	uint8_t stream;
};

void channel_prefix_write(uint8_t at[CHANNEL_PREFIX_BYTES], uint32_t channel);
void output_header_write(uint8_t at[OUTPUT_HEADER_BYTES], const struct output_header *header);
/* False if the bytes are not an OUTPUT header of this form. */
bool output_header_read(const uint8_t *at, size_t length, struct output_header *header);

/* The head of any event frame [kind, seq, t, ...]: false if FRAME is not one. */
bool event_head_read(const uint8_t *frame, size_t length, uint32_t *kind, uint64_t *seq, uint64_t *t_us);
/* The same, with what stands behind the head. */
struct event_frame {
	uint32_t kind;
	uint32_t count; /* of the fields behind seq and t */
	uint64_t seq, t_us;
	struct reader fields;
};
bool event_read(const uint8_t *frame, size_t length, struct event_frame *event);

/* The RPC frames of channel 0, as a client sends them. `params` and others are views over the message. */
enum rpc_type { RPC_REQUEST = 0, RPC_RESPONSE = 1, RPC_NOTICE = 2, RPC_CANCEL = 3 };

struct rpc {
	enum rpc_type type;
	uint32_t id;
	struct view method;
	struct reader params;        /* over the params map: reader_map() first; an empty reader stands for the empty map */
	struct reader error, result; /* RESPONSE: over the value */
};

/* Read one RPC frame from READER (which stands before the frame). On a fault returns false with *WHAT a static text,
 * the frame skipped, and *HAS_ID and rpc->id telling whether the fault can be a response: the error is then
 * CODE_INVALID_REQUEST. At the end of the message there is nothing to skip: look at reader_type() first. */
bool rpc_read(struct reader *reader, struct rpc *rpc, bool *has_id, const char **what);

#endif
