/*
 * screen.h: what passes from a shared terminal to the user's own: queries are taken out of a replay, so that the user's
 * terminal does not type old answers into the program; and the modes that a program set are remembered, so that they
 * can be undone when the user leaves in the middle (the alternate screen, mouse reports, a hidden cursor, …).
 *
 * A scanner of ECMA-48 control sequences, not an emulator. Sequences longer than SCREEN_HELD pass unread.
 */
#ifndef SANDBAR_COMMAND_SCREEN_H
#define SANDBAR_COMMAND_SCREEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SCREEN_HELD = 512, SCREEN_MODES = 24, SCREEN_RESTORE_BYTES = 512 };

enum screen_state { SCREEN_GROUND, SCREEN_ESCAPE, SCREEN_CONTROL, SCREEN_STRING, SCREEN_STRING_ESCAPE, SCREEN_STATES };

struct screen {
	bool filters; /* queries are taken out; may be changed at any time */
	enum screen_state state;
	uint8_t held[SCREEN_HELD]; /* the sequence so far */
	size_t length;
	size_t passed;              /* of those, already passed on */
	bool differs[SCREEN_MODES]; /* rows of the table of modes that are not as a shell expects them */
	bool has_keypad, has_colour;
};

void screen_init(struct screen *screen, bool filters);

/* Pass LENGTH bytes to OUT, which has room for LENGTH + SCREEN_HELD; returns how many it got. Without `filters` every
 * byte passes at once. */
size_t screen_feed(struct screen *screen, const uint8_t *bytes, size_t length, uint8_t *out);

/* What undoes the modes that were left set, and what sets them again; returns its length. Safe in a signal handler. */
size_t screen_restore(const struct screen *screen, char out[SCREEN_RESTORE_BYTES]);
size_t screen_again(const struct screen *screen, char out[SCREEN_RESTORE_BYTES]);

#endif
