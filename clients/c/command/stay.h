/*
 * stay.h: a session that goes with this program (`new --on-disconnect end`).
 */
#ifndef SANDBAR_COMMAND_STAY_H
#define SANDBAR_COMMAND_STAY_H

#include "context.h"

/* Stay connected until SESSION has ended, or a signal tells this program to leave, which ends it. The exit code. */
int stay(struct context *context, const char *session);

#endif
