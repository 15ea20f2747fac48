/*
 * channel_state.h: the STATE that follows a GAP: how things stand behind what a channel missed.
 */
#ifndef SANDBAR_CHANNEL_STATE_H
#define SANDBAR_CHANNEL_STATE_H

#include <stdbool.h>
#include <stdint.h>

struct channel;

/* Write, as the channel's own, GAP from its cursor to *NEXT - 1 and its STATE; *NEXT may become a later event. False, and
 * nothing is written, while it has to be looked at which offsets the output behind it goes on (lookout.h). */
bool channel_state_write(struct channel *channel, uint64_t *next);
/* That goes on by itself: the channel is woken. */
bool channel_state_is_awaited(const struct channel *channel);

#endif
