/*
 * offsets.h: where the next byte of each stream must stand. The client's own proof of rule 1: no byte of output is
 * lost, doubled or reordered without a GAP that says which.
 */
#ifndef SANDBAR_CLIENT_OFFSETS_H
#define SANDBAR_CLIENT_OFFSETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { OFFSETS_STREAMS = 4 }; /* indexed by enum stream */

struct offsets_row {
	uint32_t process;
	bool known[OFFSETS_STREAMS];
	uint64_t next[OFFSETS_STREAMS];
};

struct offsets { /* a row for each process that may still write */
	struct offsets_row *rows;
	size_t count, capacity;
};

void offsets_init(struct offsets *offsets);
void offsets_finish(struct offsets *offsets);

/* A process starts: all its streams begin at 0. */
void offsets_start(struct offsets *offsets, uint32_t process);
/* A stream goes on at NEXT (from STATE). */
void offsets_set(struct offsets *offsets, uint32_t process, unsigned stream, uint64_t next);
/* Where the next byte must stand; false if that is not known (joined in the middle, or after a gap). */
bool offsets_next(const struct offsets *offsets, uint32_t process, unsigned stream, uint64_t *next);
/* LENGTH bytes at OFFSET have come; true if they stand where they must, or nothing was known. Goes on after them. */
bool offsets_advance(struct offsets *offsets, uint32_t process, unsigned stream, uint64_t offset, uint64_t length);
/* A stream has ended; a process without streams is forgotten. */
void offsets_close(struct offsets *offsets, uint32_t process, unsigned stream);
/* Nothing is known any more (a gap). */
void offsets_clear(struct offsets *offsets);

#endif
