/*
 * checkpoint.h: the screens of a session's terminals in its journal, often enough that a later gateway finds each in
 * the ring, and makes it again from there.
 */
#ifndef SANDBAR_CHECKPOINT_H
#define SANDBAR_CHECKPOINT_H

struct session;

/* Write a CHECKPOINT of each terminal where the last ones are about to be a quarter of the ring behind. All of a round
 * together take at most a sixteenth of the ring, the newest terminals first. */
void checkpoints_write(struct session *session);
/* Make the screens of a restored session's terminals from its journal. */
void checkpoints_restore(struct session *session);

#endif
