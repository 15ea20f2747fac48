/*
 * bytes.h: a string of bytes that grows. Out of memory aborts: who appends bounds what.
 */
#ifndef SANDBAR_TERMINAL_BYTES_H
#define SANDBAR_TERMINAL_BYTES_H

#include <stddef.h>
#include <stdint.h>

struct bytes {
	uint8_t *at; /* NULL while nothing was appended */
	size_t length, capacity;
};

void bytes_finish(struct bytes *bytes);
void bytes_put(struct bytes *bytes, const void *more, size_t length);
void bytes_text(struct bytes *bytes, const char *text);
void bytes_number(struct bytes *bytes, uint32_t number); /* decimal */
/* Room for LENGTH more bytes, which the caller writes and then adds to length. */
uint8_t *bytes_room(struct bytes *bytes, size_t length);
void bytes_format(struct bytes *bytes, const char *format, ...) __attribute__((format(printf, 2, 3))); /* short ones */

/* Take what was appended: malloc'd, never NULL. */
uint8_t *bytes_steal(struct bytes *bytes, size_t *length);

/* CHARACTER as UTF-8 to TARGET (4 bytes). Returns the number of bytes. */
size_t utf8_encode(uint32_t character, char *target);
/* The first character of TEXT, which is whole and well-formed, and in LENGTH the bytes it takes. */
uint32_t utf8_decode(const char *text, size_t *length);
/* The most whole characters of TEXT that take at most MOST bytes, in bytes. */
size_t utf8_cut(const char *text, size_t length, size_t most);

void *terminal_allocate(size_t count, size_t size); /* zeroed; aborts when there is no memory */
void *terminal_reallocate(void *memory, size_t count, size_t size);

#endif
