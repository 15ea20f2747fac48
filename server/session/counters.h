/*
 * counters.h: what happened in all sessions of this gateway since its start, for its operator. They only grow.
 */
#ifndef SANDBAR_COUNTERS_H
#define SANDBAR_COUNTERS_H

#include "protocol/wire.h"

enum { COUNTED_EVENTS = 32 /* the kinds of events are below */ };

struct counters {
	uint64_t events[COUNTED_EVENTS]; /* that were journaled, by kind */
	uint64_t exited[REASON_COUNT];   /* processes, by reason */
	uint64_t output_bytes;           /* read from processes */
	uint64_t input_bytes;            /* written to processes */
	uint64_t gaps;                   /* that channels were told of */
};

#endif
