/*
 * display.h: the screen of a process's terminal, kept from its output by the VT core (server/terminal/terminal.h), for
 * who did not see all of it. Queries of the program are answered here, as they come, whoever watches.
 *
 * Belongs to its process, and is open while the terminal is. A session's screens have DISPLAY_CELLS together; a terminal
 * that would be over it has no screen: it is shown to nobody who comes late, and its queries go unanswered.
 */
#ifndef SANDBAR_DISPLAY_H
#define SANDBAR_DISPLAY_H

#include <ev.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct process;
struct session;
struct terminal;

enum {
	DISPLAY_CHEAP_CELLS = 16 * 1024,        /* a screen that is made without a thought */
	DISPLAY_CELLS = 1024 * 1024,            /* of all terminals of a session: one of the largest size */
	DISPLAY_SCREEN_BYTES = 3 * 1024 * 1024, /* most that a screen has on the wire; scrollback is left out first */
	DISPLAY_TURN = 1 << 24,  /* bytes that are fed at once, times cells: a few bytes can write each cell */
	DISPLAY_TURN_LEAST = 64, /* bytes at once, however many cells there are */
};

struct display {
	struct process *process;
	struct terminal *terminal; /* NULL: not open, or no room */
	uint32_t cells;            /* of the session's DISPLAY_CELLS */
	uint64_t offset;           /* of the stream, up to which it has read */
	uint64_t version;          /* grows with each change */
	uint64_t checkpoint;       /* the journal's position of its newest CHECKPOINT */
	uint8_t *made;             /* the screen that was made last, of MADE_VERSION */
	size_t made_length;
	uint64_t made_version;
	uint64_t made_us; /* when a screen was made last, for a viewer or a checkpoint; since the session was made */
	struct { /* while it is made again from the journal: where its newest CHECKPOINT begins, and the pieces left */
		uint64_t begun, parts;
	} restore;
	ev_timer settled; /* its size has not changed for a while */
};

void display_init(struct display *display, struct process *process);
void display_open(struct display *display, uint16_t cols, uint16_t rows);
void display_close(struct display *display); /* may be repeated */

/* How many bytes may be fed in one turn of the loop, at most JOURNAL_READ: by what the costliest sequences take (repeated
 * characters that move lines into the scrollback: 4 to 8 ns a cell, which is 0.1 s). Only what is live is held to it: when a
 * gateway restores a session, all that came since the newest CHECKPOINT (checkpoint.h) is fed in one turn. */
size_t display_room(const struct display *display);
/* The program wrote this. IS_LIVE: its queries are answered. */
void display_feed(struct display *display, const uint8_t *bytes, size_t length, bool is_live);
void display_resize(struct display *display, uint16_t cols, uint16_t rows);

/* What draws it, with at most SCROLLBACK lines above, made anew and however long; the caller frees it. It must have a screen. */
uint8_t *display_make(const struct display *display, uint32_t scrollback, size_t *length);
/* A large screen takes milliseconds to make, and nobody may have the loop spend its time on it: microseconds until one may be
 * made that is not there already; 0: now. */
uint64_t display_pause_us(const struct display *display);
/* What draws it, with what of a sequence is not complete behind it: bytes that are valid until the next call for this
 * display; at most DISPLAY_SCREEN_BYTES. NULL: it has no screen. */
const uint8_t *display_screen(struct display *display, size_t *length);

#endif
