/*
 * history.h: a cursor over all that is there of a session's events: the record on disk, and the journal's ring, which
 * goes on where the record ends. Both hold the same frames.
 *
 * What the ring has given up is read from the record, up to the newest event that stands there; from then on the ring is
 * read. A value type; history_finish() ends it.
 */
#ifndef SANDBAR_HISTORY_H
#define SANDBAR_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct session;
struct replay;

struct history {
	struct session *session;
	uint64_t seq;      /* the next event */
	uint64_t position; /* its place in the journal; valid where IS_PLACED, and the ring still has it */
	bool is_placed;
	struct replay *replay; /* NULL: the ring is read */
	size_t length;         /* what history_look() told, for history_step() */
	uint64_t next;
};

void history_init(struct history *history, struct session *session, uint64_t seq);
void history_finish(struct history *history);
void history_place(struct history *history, uint64_t seq);

enum history_found {
	HISTORY_EVENT,   /* *FRAME, of *LENGTH bytes, valid until the next call or the journal's next event */
	HISTORY_END,     /* it was read to the end */
	HISTORY_LATER,   /* what comes next is about to stand in the record: session_recorded() tells */
	HISTORY_MISSING, /* events up to history->next - 1 are nowhere */
};
enum history_found history_look(struct history *history, const uint8_t **frame, size_t *length);
void history_step(struct history *history); /* go on behind what history_look() told: an event, or what is missing */

bool history_is_behind(const struct history *history); /* the ring does not have it, or it still reads the record */

/* The oldest event that is there, and the newest; last + 1 when there is none. */
uint64_t history_first(const struct session *session);
uint64_t history_last(const struct session *session);

#endif
