/*
 * retry.h: what is tried again until it has succeeded: a cgroup that is not empty yet, a sandbox that is not gone yet.
 *
 * The first attempts come in quick succession, for most things are gone within a millisecond; later ones once a
 * second. Times are nanoseconds of CLOCK_MONOTONIC.
 */
#ifndef SANDBAR_RETRY_H
#define SANDBAR_RETRY_H

#include <stdbool.h>
#include <stdint.h>

struct retry {
	struct retry *previous, *next;
	struct retry_list *list;         /* NULL while nothing is tried */
	void (*attempt)(struct retry *); /* calls retry_stop() on success; may free what holds the retry */
	uint64_t started, due, interval;
};

struct retry_list {
	struct retry *first, *last;
};

uint64_t monotonic_ns(void);

/* Begin, with the first attempt due at once. Has no effect while it is under way. */
void retry_start(struct retry_list *list, struct retry *retry, void (*attempt)(struct retry *));
void retry_stop(struct retry *retry);
/* Something has happened: the next attempt is due now, and the quick succession begins again. */
void retry_hurry(struct retry *retry);
/* Whether it has been tried for SECONDS, told true once. */
bool retry_is_late(struct retry *retry, unsigned seconds);

/* Make every attempt that is due. */
void retry_run(struct retry_list *list);
/* When the next attempt is due; UINT64_MAX if there is none. */
uint64_t retry_next(const struct retry_list *list);

#endif
