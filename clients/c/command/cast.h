/*
 * cast.h: a terminal's recording as asciicast v3 (https://docs.asciinema.org/manual/asciicast/v3/), written as its events
 * come.
 *
 * Times are exact to the microsecond. Output is UTF-8: a character that is cut between two events is held until it is
 * whole, a byte that belongs to none becomes U+FFFD. What Sandbar knows beyond the format stands where every player must
 * pass over it: in the header under `sandbar`, and in events with the code `sandbar.input`, whose data is a JSON object
 * {"by", "participant", "bytes"}: who typed, never what.
 */
#ifndef SANDBAR_COMMAND_CAST_H
#define SANDBAR_COMMAND_CAST_H

#include "clients/c/sandbar.h"

#include <stdio.h>

struct cast {
	FILE *out;       /* the caller's */
	uint64_t t_us;   /* of the event before */
	uint8_t held[4]; /* the beginning of a character */
	size_t held_length;
};

struct cast_header {
	const char *session, *title; /* the title may be NULL */
	const char *command;         /* may be NULL */
	uint32_t process, cols, rows;
	uint64_t began_us; /* since 1970; 0: not known */
};

/* T_US here and below: microseconds since the session was made. */
void cast_begin(struct cast *cast, FILE *out, const struct cast_header *header, uint64_t t_us);
void cast_output(struct cast *cast, uint64_t t_us, const void *bytes, size_t length);
void cast_resize(struct cast *cast, uint64_t t_us, uint32_t cols, uint32_t rows);
void cast_marker(struct cast *cast, uint64_t t_us, const char *label);
void cast_input(struct cast *cast, uint64_t t_us, const char *by, uint32_t participant, uint64_t bytes);
/* How it ended, as a marker, and as the exit code, if there is one. */
void cast_exit(struct cast *cast, uint64_t t_us, const struct sandbar_ending *ending);

#endif
