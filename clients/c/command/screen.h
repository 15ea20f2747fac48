/*
 * screen.h: what passes of a session's output to the user's own terminal. The program inside may be hostile to whoever watches, so
 * what is not known to do nothing but draw does not pass: queries (the server answers them, once; nothing here may make the
 * user's terminal type), the clipboard, window operations, device control and application strings, and what would take the
 * terminal out of UTF-8. Controls of one byte (C1) become the sequences that they stand for, bytes that are not UTF-8
 * U+FFFD. And what a program set is remembered, so that it can be undone when the user leaves in the middle (the alternate
 * screen, mouse reports, a hidden cursor, colours, …).
 *
 * A scanner of ECMA-48 control sequences, not an emulator. A sequence is passed whole, when its end has come.
 */
#ifndef SANDBAR_COMMAND_SCREEN_H
#define SANDBAR_COMMAND_SCREEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	SCREEN_HELD = 2048, /* the longest sequence that passes; only an allowed clipboard write may be longer */
	SCREEN_MODES = 32,
	SCREEN_RESTORE_BYTES = 512,
	SCREEN_TITLE_BYTES = 256,
	SCREEN_GROWTH = 3, /* a byte that is not UTF-8 becomes three */
};

enum screen_state { SCREEN_GROUND, SCREEN_ESCAPE, SCREEN_CONTROL, SCREEN_STRING, SCREEN_DROPPED, SCREEN_PASSED };

struct screen {
	bool allows_clipboard; /* OSC 52 may write (never read) */
	bool only_sounds;      /* somebody else draws: only the bell and allowed clipboard writes pass */
	bool only_text;        /* no sequence passes, and of controls those alone that make lines of text */
	enum screen_state state;
	uint8_t held[SCREEN_HELD]; /* the sequence so far */
	size_t length;
	uint8_t character[4]; /* of UTF-8, so far */
	size_t character_length;
	char title[SCREEN_TITLE_BYTES]; /* the last that the program gave itself, without control characters */
	bool differs[SCREEN_MODES];     /* rows of the table of modes that are not as a shell expects them */
	bool has_charset, has_keypad, has_colour, has_region, has_cursor_style, has_keys, has_palette;
};

void screen_init(struct screen *screen);

/* Pass LENGTH bytes to OUT, which has room for SCREEN_GROWTH * LENGTH + SCREEN_HELD; returns how many it got. */
size_t screen_feed(struct screen *screen, const uint8_t *bytes, size_t length, uint8_t *out);

/* What comes is not a continuation of what came: an unfinished sequence or character is forgotten. */
void screen_break(struct screen *screen);

/* What undoes the modes that were left set, and what sets them again; returns its length. Safe in a signal handler. */
size_t screen_restore(const struct screen *screen, char out[SCREEN_RESTORE_BYTES]);
size_t screen_again(const struct screen *screen, char out[SCREEN_RESTORE_BYTES]);

#endif
