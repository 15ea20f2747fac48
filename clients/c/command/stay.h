/*
 * stay.h: a session that goes with this program (`new --on-disconnect end`).
 */
#ifndef SANDBAR_COMMAND_STAY_H
#define SANDBAR_COMMAND_STAY_H

#include "context.h"

/* From now on a signal waits for stay(): who has read the session's id may send one at once. */
void stay_hold_signals(void);
/* Stay connected until SESSION has ended, or a signal tells this program to leave, which ends it, or at once where the id
 * could not be told. The exit code. */
int stay(struct context *context, const char *session);

#endif
