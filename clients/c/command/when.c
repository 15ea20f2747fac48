#include "when.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

enum { US_PER_S = 1000000 };

void when_format(uint64_t microseconds, const char *never, char text[WHEN_BYTES])
{
	time_t seconds = (time_t)(microseconds / US_PER_S);
	struct tm parts;

	if (microseconds == 0 || !localtime_r(&seconds, &parts))
		snprintf(text, WHEN_BYTES, "%s", never);
	else
		strftime(text, WHEN_BYTES, "%Y-%m-%d %H:%M", &parts);
}

void when_span(uint64_t microseconds, char text[WHEN_BYTES])
{
	static const struct unit {
		uint64_t seconds;
		char letter;
	} UNITS[] = {{86400, 'd'}, {3600, 'h'}, {60, 'm'}, {1, 's'}};
	uint64_t seconds = microseconds / US_PER_S;
	const struct unit *unit = UNITS;

	while (unit->seconds > 1 && seconds < 2 * unit->seconds)
		unit++;
	snprintf(text, WHEN_BYTES, "%" PRIu64 "%c", seconds / unit->seconds, unit->letter);
}

uint64_t when_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * US_PER_S + (uint64_t)now.tv_nsec / 1000;
}
