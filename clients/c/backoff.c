#include "backoff.h"

enum { BACKOFF_SHIFT_MAX = 20 };

uint32_t backoff_next(struct backoff *backoff, uint32_t random)
{
	uint64_t delay = (uint64_t)backoff->base_ms << backoff->attempt;

	if (delay > backoff->most_ms)
		delay = backoff->most_ms;
	if (backoff->attempt < BACKOFF_SHIFT_MAX)
		backoff->attempt++;
	uint64_t half = delay / 2;
	return (uint32_t)(delay - half + random % (half + 1));
}
