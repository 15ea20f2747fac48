/*
 * minute.h: how often something happened in the last 60 seconds. A value type; all zeros is never. Times are whole seconds
 * of a clock that does not go back.
 */
#ifndef SANDBAR_MINUTE_H
#define SANDBAR_MINUTE_H

#include <stdint.h>

enum { MINUTE_S = 60 };

struct minute {
	uint64_t newest_s;
	uint32_t counts[MINUTE_S]; /* of second s at s % MINUTE_S */
};

void minute_add(struct minute *minute, uint64_t second);
uint64_t minute_sum(const struct minute *minute, uint64_t second);

#endif
