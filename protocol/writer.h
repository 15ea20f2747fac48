/*
 * writer.h: MessagePack into a buffer that grows up to a bound. msgpack-c packs; this holds the bytes.
 *
 * A writer that would pass its bound is `failed` from then on and ignores what follows: check once, at the end.
 * Out of memory aborts.
 */
#ifndef SANDBAR_WRITER_H
#define SANDBAR_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct writer {
	uint8_t *data; /* the writer's; valid until the next write or finish */
	size_t length, capacity, bound;
	bool failed;
};

void writer_init(struct writer *writer, size_t bound); /* bound: most bytes that it will hold */
void writer_finish(struct writer *writer);             /* frees the buffer */
void writer_reset(struct writer *writer);              /* empty again; keeps the buffer */
uint8_t *writer_steal(struct writer *writer,
                      size_t *length); /* the bytes become the caller's (free); the writer is empty */

void writer_nil(struct writer *writer);
void writer_bool(struct writer *writer, bool value);
void writer_uint(struct writer *writer, uint64_t value);
void writer_int(struct writer *writer, int64_t value);
/* Text that a program made up, for instance of a name that a stranger chose, cut at some length: NULL is written as nil,
 * and each byte that is not UTF-8 as `?`, since one such byte would make the whole message unreadable. */
void writer_str(struct writer *writer, const char *text);
void writer_strn(struct writer *writer, const char *text, size_t length); /* as it stands */
void writer_bin(struct writer *writer, const void *bytes, size_t length);
void writer_array(struct writer *writer, uint32_t count);
void writer_map(struct writer *writer, uint32_t count);
void writer_raw(struct writer *writer, const void *bytes, size_t length); /* MessagePack that is ready */

/* A map entry in one call. */
void writer_key_str(struct writer *writer, const char *key, const char *text); /* as writer_str() */
void writer_key_uint(struct writer *writer, const char *key, uint64_t value);
void writer_key_bool(struct writer *writer, const char *key, bool value);
void writer_key_nil(struct writer *writer, const char *key);

#endif
