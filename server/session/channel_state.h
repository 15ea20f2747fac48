/*
 * channel_state.h: the STATE that follows a GAP: how things stand behind what a channel missed.
 */
#ifndef SANDBAR_CHANNEL_STATE_H
#define SANDBAR_CHANNEL_STATE_H

#include "protocol/writer.h"

#include <stdbool.h>

struct session;

/* Write GAP FROM ... NEXT - 1 and its STATE. False, and nothing is written, while the events behind it, which tell at
 * which offsets the output goes on, cannot all be looked at yet (HISTORY_LATER). */
bool channel_state_write(struct writer *writer, struct session *session, uint64_t from, uint64_t next);

#endif
