/*
 * follower.h: one session's record as the worker writes it: it follows the session's journal, which the gateway writes, and
 * appends what is new to segments (segment.h) in the session's directory.
 *
 * A record is one writer's: the directory is locked, so that a worker that is about to end is waited for.
 */
#ifndef SANDBAR_FOLLOWER_H
#define SANDBAR_FOLLOWER_H

#include "server/session/recorder_wire.h"
#include "server/session/segment.h"

struct follower;

/* DIRECTORY and JOURNAL become its own, also on error. LIMIT: bytes that the record may have. It goes on where the segments
 * end; what is not a whole frame there is cut off. NULL on error. */
struct follower *follower_open(int directory, int journal, uint64_t limit, struct error *err);
void follower_close(struct follower *follower); /* NULL is allowed; the segments stay */

/* Record what the journal holds from POSITION on, where event SEQ stands; a bounded part of it. Fills REPORT but for its
 * number. */
void follower_advance(struct follower *follower, uint64_t seq, uint64_t position, struct recorder_report *report);
void follower_report(const struct follower *follower, struct recorder_report *report);

#endif
