#include "when.h"

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
