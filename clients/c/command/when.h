/*
 * when.h: a moment, and a span of time, as people read them.
 */
#ifndef SANDBAR_COMMAND_WHEN_H
#define SANDBAR_COMMAND_WHEN_H

#include <stdint.h>

enum { WHEN_BYTES = 32 };

/* "2030-01-31 14:05", local time, of microseconds since 1970; NEVER for 0. */
void when_format(uint64_t microseconds, const char *never, char text[WHEN_BYTES]);

/* "5s", "3m", "2h", "4d". */
void when_span(uint64_t microseconds, char text[WHEN_BYTES]);

uint64_t when_now(void); /* microseconds since 1970 */

#endif
