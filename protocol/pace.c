#include "pace.h"

static uint64_t within(const struct pace *pace, uint64_t bytes)
{
	uint64_t least = PACE_LEAST < pace->most ? PACE_LEAST : pace->most;
	if (bytes < least)
		return least;
	return bytes < pace->most ? bytes : pace->most;
}

void pace_init(struct pace *pace, uint64_t most)
{
	*pace = (struct pace){.most = most};
	pace->bound = within(pace, PACE_FIRST);
}

static void ease(struct pace *pace, uint64_t now_us)
{
	pace->since_us = 0;
	if (now_us - pace->eased_us < PACE_US)
		return;
	pace->eased_us = now_us;
	pace->bound = within(pace, 2 * pace->bound);
}

void pace_note(struct pace *pace, uint64_t total, uint64_t now_us, bool is_behind)
{
	if (!is_behind) {
		ease(pace, now_us);
		return;
	}
	if (pace->since_us == 0) {
		pace->since_us = now_us;
		pace->from = total;
	}
	uint64_t passed_us = now_us - pace->since_us;
	if (passed_us < PACE_US)
		return;
	pace->bound = within(pace, (total - pace->from) * PACE_US / passed_us);
	pace->since_us = now_us;
	pace->from = total;
}
