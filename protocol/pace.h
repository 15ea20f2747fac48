/*
 * pace.h: how far output may run ahead of somebody who draws it slowly (PROTOCOL.md §4.4).
 *
 * What is ahead is what `^C` waits for. So it is bounded by time: what is drawn in PACE_US, at least PACE_LEAST, at most
 * what was given to pace_init(). Both ends keep one: a client for what it grants, the server for what it reads ahead of
 * the grants. A rate is believed only while it is the drawing that is waited for; else the bound grows again.
 */
#ifndef SANDBAR_PACE_H
#define SANDBAR_PACE_H

#include <stdbool.h>
#include <stdint.h>

enum {
	PACE_US = 20000,
	PACE_LEAST = 4 * 1024, /* bytes: what the kernel's terminals give at once */
	PACE_FIRST = 16 * 1024,
};

struct pace {
	uint64_t most, bound; /* bytes */
	uint64_t since_us;    /* 0: nothing is being measured */
	uint64_t from, eased_us;
};

void pace_init(struct pace *pace, uint64_t most);
/* TOTAL bytes were drawn until NOW_US (monotonic, not 0). IS_BEHIND: more was waiting to be drawn all the time. */
void pace_note(struct pace *pace, uint64_t total, uint64_t now_us, bool is_behind);

#endif
