/*
 * input.h: one process's stdin as this client sends it: the bytes that are not acknowledged are kept, so that they can
 * be sent again after a cut. A ring of the wire's window; it never grows beyond that.
 *
 *   base ..... sent ..... end        base: acknowledged; sent: on this connection; end: taken from the user
 */
#ifndef SANDBAR_CLIENT_INPUT_H
#define SANDBAR_CLIENT_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { INPUT_FRAMES = 64 }; /* most that are on their way at once; what is typed faster goes in larger ones */

struct input {
	uint8_t *ring;                 /* LIMIT_STDIN_WINDOW bytes, made at the first byte */
	uint64_t base, sent, end;      /* stream offsets; base <= sent <= end <= base + window */
	bool eof;                      /* the user will send no more */
	bool eof_sent;                 /* on this connection */
	bool stopped;                  /* the server takes no more: what is left was dropped */
	bool full;                     /* the server's window was full: wait for an acknowledgement */
	uint64_t starts[INPUT_FRAMES]; /* offsets of the frames that are on their way: a ring */
	unsigned first_frame, frames;
	unsigned refusals; /* frames on their way that will be refused: nothing is sent until they were */
};

void input_init(struct input *input);
void input_finish(struct input *input);

/* Nothing was sent yet, and the server has already accepted OFFSET bytes from an earlier channel of this client. */
void input_start_at(struct input *input, uint64_t offset);

size_t input_room(const struct input *input);
/* Copy as much as has room; returns how many bytes that was. */
size_t input_take(struct input *input, const void *data, size_t length);
void input_end(struct input *input);

/* The next run to send, at most MOST bytes, contiguous; false if there is none now. It counts as sent from then on. */
bool input_next(struct input *input, size_t most, uint64_t *offset, const uint8_t **data, size_t *length);
/* True once, when everything was sent and the end must be: OFFSET is where the input ends. */
bool input_next_eof(struct input *input, uint64_t *offset);

/* The server wrote everything below OFFSET. False if that was never sent. */
bool input_acknowledge(struct input *input, uint64_t offset);
/* Go on from OFFSET: after a cut, or because the server said what it expects. False if that byte is not kept any more
 * (below base) or never existed (above end). */
bool input_resume(struct input *input, uint64_t offset);
/* The server's window is full from OFFSET on: go on from there after the next acknowledgement. */
bool input_wait_at(struct input *input, uint64_t offset);
/* The server did not take a frame, since somebody else types, and goes on at OFFSET: everything that was taken from the
 * user is dropped. False if that offset is none of ours. */
bool input_refuse(struct input *input, uint64_t offset);
/* The server takes no more: drop what is left. */
void input_stop(struct input *input);

bool input_is_done(const struct input *input); /* nothing is unacknowledged, and the end (if any) was sent */

#endif
