/*
 * random.h: random good messages, every integer and length in a random one of its forms. The same seed gives the same
 * messages, so a failure can be repeated.
 */
#ifndef SANDBAR_TESTS_RANDOM_H
#define SANDBAR_TESTS_RANDOM_H

#include "protocol/writer.h"

struct random {
	uint64_t state;
};

uint64_t random_next(struct random *random);
uint32_t random_below(struct random *random, uint32_t bound);

/* Append one value, nested at most DEPTH deep: maps have distinct text keys, integers lie within +-(2^53-1). */
void random_value(struct random *random, struct writer *writer, unsigned depth);

#endif
