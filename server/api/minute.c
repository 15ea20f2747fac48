#include "minute.h"

#include <string.h>

/* The seconds since the newest one had nothing. */
static void move_on(struct minute *minute, uint64_t second)
{
	if (second - minute->newest_s >= MINUTE_S)
		memset(minute->counts, 0, sizeof minute->counts);
	else
		while (minute->newest_s < second)
			minute->counts[++minute->newest_s % MINUTE_S] = 0;
	minute->newest_s = second;
}

void minute_add(struct minute *minute, uint64_t second)
{
	move_on(minute, second);
	minute->counts[second % MINUTE_S]++;
}

uint64_t minute_sum(const struct minute *minute, uint64_t second)
{
	struct minute now = *minute;
	uint64_t sum = 0;
	move_on(&now, second);
	for (size_t i = 0; i < MINUTE_S; i++)
		sum += now.counts[i];
	return sum;
}
