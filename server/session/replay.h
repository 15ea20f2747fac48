/*
 * replay.h: a reader of a session's record, from some event on.
 *
 * It holds one segment open, whose bytes stay readable when the writer removes it, and a buffer of what comes next.
 */
#ifndef SANDBAR_REPLAY_H
#define SANDBAR_REPLAY_H

#include "segment.h"

struct replay;

/* Begin with event SEQ of the record in DIRECTORY, a session's (it is duplicated). NULL on error. */
struct replay *replay_open(int directory, uint64_t seq, struct error *err);
void replay_close(struct replay *replay); /* NULL is allowed */

enum replay_found {
	REPLAY_EVENT,
	REPLAY_MISSING, /* events up to *NEXT - 1 are not in the record: removed, never recorded, or damaged */
	REPLAY_END,     /* it was read up to LAST */
};

/* The frame at the cursor, valid until the next call; *NEXT is the seq behind it. LAST: the newest event that is known to
 * be recorded; nothing behind it is looked at. */
enum replay_found replay_look(struct replay *replay, uint64_t last, const uint8_t **frame, size_t *length,
                              uint64_t *next);
/* It met bytes that are no event of this record: what is missing was damaged on disk. */
bool replay_is_damaged(const struct replay *replay);
/* Go on behind what replay_look() told. */
void replay_step(struct replay *replay);
uint64_t replay_seq(const struct replay *replay);
/* The same place in a reader of its own, to look ahead with. NULL on error. */
struct replay *replay_copy(const struct replay *replay, struct error *err);

#endif
