/*
 * channel_answer.h: frames that a channel gets because its client, or another, sends input: those of channel.h, and what an
 * earlier gateway left open.
 */
#ifndef SANDBAR_CHANNEL_ANSWER_H
#define SANDBAR_CHANNEL_ANSWER_H

struct channel;

/* Whoever sent input that an earlier gateway was writing when it died hears of it when he is there again. */
void channel_tell_unknown_input(struct channel *channel);

#endif
