/*
 * scrollback.h: the lines that were scrolled off, oldest first, each as the bytes that draw it from the first column with
 * a default pen, and leave that pen behind.
 */
#ifndef SANDBAR_TERMINAL_SCROLLBACK_H
#define SANDBAR_TERMINAL_SCROLLBACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct scrollback_line {
	uint32_t begin; /* in the ring of bytes; a line may go round its end */
	uint32_t length;
	uint16_t columns; /* that it fills */
	uint16_t width;   /* of the screen it was on */
	bool wrapped;     /* it goes on from the line before, if that fills its width */
};

struct scrollback {
	uint8_t *bytes; /* a ring that grows up to TERMINAL_SCROLLBACK_BYTES */
	uint32_t capacity, begin, used;
	struct scrollback_line *lines; /* a ring of most */
	uint32_t most, first, count;
};

void scrollback_init(struct scrollback *scrollback, uint32_t most);
void scrollback_finish(struct scrollback *scrollback);
void scrollback_clear(struct scrollback *scrollback);
/* The oldest lines go when there is no room. LINE's begin and length are set here. */
void scrollback_push(struct scrollback *scrollback, struct scrollback_line line, const uint8_t *bytes, size_t length);
/* The line that is INDEX before the newest, which is 0. */
const struct scrollback_line *scrollback_at(const struct scrollback *scrollback, uint32_t index);
/* A line's bytes, in one or two pieces. */
struct scrollback_piece {
	const uint8_t *at;
	size_t length;
};
void scrollback_read(const struct scrollback *scrollback, const struct scrollback_line *line,
                     struct scrollback_piece pieces[2]);
size_t scrollback_memory(const struct scrollback *scrollback);

#endif
