/*
 * backoff.h: how long to wait before the next attempt: doubling, with equal jitter, so that a thousand clients of a
 * server that restarted do not come back in one moment.
 */
#ifndef SANDBAR_CLIENT_BACKOFF_H
#define SANDBAR_CLIENT_BACKOFF_H

#include <stdint.h>

struct backoff {
	uint32_t base_ms, most_ms; /* the first and the longest delay */
	uint32_t attempt;          /* 0 for the next first one */
};

/* The delay in milliseconds: with d = min(most, base * 2^attempt), between d/2 and d, chosen by RANDOM. */
uint32_t backoff_next(struct backoff *backoff, uint32_t random);

#endif
