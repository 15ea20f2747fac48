/*
 * viewer.h: a client of one channel, which keeps what it got and looks into it.
 */
#ifndef SANDBAR_TESTS_VIEWER_H
#define SANDBAR_TESTS_VIEWER_H

#include "house.h"
#include "values.h"

struct seen { /* one frame that came */
	size_t at, length;
	uint32_t kind;
	uint64_t seq, t_us;          /* of events */
	struct output_header output; /* of OUTPUT */
	struct reader fields;        /* behind kind, and behind seq and t of an event */
};

struct viewer {
	struct channel *channel;
	unsigned wakes;
	uint8_t *bytes; /* the frames, one behind the other */
	size_t length, capacity, messages;
	size_t *frames; /* where each begins */
	size_t frame_count, frame_room;
};

/* Attach with OPTIONS, whose number, wake and owner are filled in. Role and names have defaults. */
void viewer_attach(struct viewer *viewer, struct house *house, struct channel_options options);
void viewer_close(struct viewer *viewer); /* detaches, if it is attached */

/* Fetch one message; the number of frames in it. Checks the message's form, and that seq only goes up. */
size_t viewer_read(struct viewer *viewer, size_t most);
size_t viewer_read_all(struct viewer *viewer);
void viewer_forget(struct viewer *viewer); /* what came until now */

struct seen viewer_frame(const struct viewer *viewer, size_t number);
/* The next frame of KIND at or after *AT, which becomes the one behind it; false if there is none. */
bool viewer_find(const struct viewer *viewer, uint32_t kind, size_t *at, struct seen *seen);
size_t viewer_count(const struct viewer *viewer, uint32_t kind);
struct seen viewer_only(const struct viewer *viewer, uint32_t kind); /* there must be exactly one */

/* The bytes of a stream that came, which must be without a gap from offset FROM on. */
size_t viewer_stream(const struct viewer *viewer, uint32_t process, enum stream stream, uint64_t from, uint8_t **bytes);
/* They must be TEXT. */
void viewer_expect(const struct viewer *viewer, uint32_t process, enum stream stream, const char *text);
/* The map of EXITED of PROCESS, which must have come once. */
struct reader viewer_ending(const struct viewer *viewer, uint32_t process);
uint64_t field_uint(struct seen *seen); /* the next field, an integer */

#endif
