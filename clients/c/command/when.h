/*
 * when.h: a moment as people read it.
 */
#ifndef SANDBAR_COMMAND_WHEN_H
#define SANDBAR_COMMAND_WHEN_H

#include <stdint.h>

enum { WHEN_BYTES = 32 };

/* "2030-01-31 14:05", local time, of microseconds since 1970; NEVER for 0. */
void when_format(uint64_t microseconds, const char *never, char text[WHEN_BYTES]);

#endif
