/*
 * terminal.h: a terminal's screen, kept from the bytes that its program wrote: what a late viewer must be shown.
 *
 * It is a VT core of its own: a parser (parser.h), two screens of cells (grid.h), the lines that were scrolled off
 * (scrollback.h), and the modes. It knows no process, no journal and no wire; it does no input or output.
 *
 * What a sequence does is what xterm.js 6 does, its oddities included, since that is what the pages draw with
 * and since cells must not depend on when a viewer came. What xterm.js does not know but real terminals do (DECSCNM, mouse
 * encodings 1005 and 1015, XTMODKEYS) is kept and told to viewers. Differences on purpose: strings (OSC, DCS) are taken
 * up to PARSER_STRING_BYTES, titles up to TERMINAL_TITLE_BYTES, combining characters up to CLUSTER_BYTES a cell; REP prints no more than
 * pushes all there was off the screen, so that fewer of its lines are above; and what follows a wide character that was
 * dropped at the end of a line that does not wrap does not combine with the character before.
 *
 * Width of characters: one code point at a time, as Unicode 11 has it (width.h), which is xterm.js's add-on unicode11, and
 * near to what wcwidth() tells the programs inside and what xterm, tmux and VTE do. xterm.js's own default (Unicode 6)
 * draws emoji one column wide, and its add-on unicode-graphemes joins what programs count apart: a page loads
 * `@xterm/addon-unicode11` and sets `unicode.activeVersion = "11"`.
 *
 * Size: a change cuts or fills the two screens without reflow. Emulators that watched it reflow each in its own way, so
 * whoever tells viewers of a new size sends them a screen after it. Lines that were scrolled off are kept as text, and a
 * screen lays them out anew for its width. An xterm.js that must not reflow before that screen comes is made with
 * `windowsPty: {backend: "winpty", buildNumber: 1}`, which does nothing else.
 *
 * Memory: bounded by the size and TERMINAL_SCROLLBACK_BYTES; terminal_memory() tells it. Nothing a program writes
 * makes it more. Running time is linear in the bytes fed, but for REP and sequences that move lines, which cost at most
 * a screen each.
 */
#ifndef SANDBAR_TERMINAL_H
#define SANDBAR_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	TERMINAL_COLUMNS_LEAST = 2, /* a wide character must have room */
	TERMINAL_SIZE_MOST = 1000,  /* columns, and rows */
	TERMINAL_SCROLLBACK_LINES = 1000,
	TERMINAL_SCROLLBACK_BYTES = 1 << 20, /* of the lines' text; the oldest go first */
	TERMINAL_TITLE_BYTES = 1024,
	TERMINAL_TITLE_STACK = 10,
	TERMINAL_ANSWER_BYTES = 1024, /* of answers to the queries of one feed; further ones are dropped */
	TERMINAL_CELL_BYTES = 64, /* a screen without scrollback is at most this for each cell of the screens shown... */
	TERMINAL_FIXED_BYTES = 65536, /* ...and this, for titles, colours, tab stops, modes, and links of a small screen */
};

/* What a screen begins with: it makes an emulator that has drawn something else as good as new (RIS, and ED 3 for those
 * that keep scrollback over it). Who draws on a terminal that is not his own may skip it. */
#define TERMINAL_RESET \
	"\x1b"             \
	"c\x1b[3J"

struct terminal;

/* Answers to queries, to be written to the program as if they were typed. */
struct terminal_answers {
	size_t length;
	size_t dropped; /* answers that had no room */
	char bytes[TERMINAL_ANSWER_BYTES];
};

/* COLUMNS and ROWS are brought between least and most. SCROLLBACK is a number of lines, at most
 * TERMINAL_SCROLLBACK_LINES. */
struct terminal *terminal_create(uint32_t columns, uint32_t rows, uint32_t scrollback);
void terminal_destroy(struct terminal *terminal); /* takes NULL */
void terminal_cleanup(struct terminal **terminal);
#define CLEANUP_TERMINAL __attribute__((cleanup(terminal_cleanup)))

/* The program wrote this. Chunks may end anywhere. ANSWERS (its length and dropped are set anew) takes what queries in
 * it are to be answered; it is NULL for output that is not live: then no query is answered, now or later. */
void terminal_feed(struct terminal *terminal, const void *bytes, size_t length, struct terminal_answers *answers);

void terminal_resize(struct terminal *terminal, uint32_t columns, uint32_t rows);

uint32_t terminal_columns(const struct terminal *terminal);
uint32_t terminal_rows(const struct terminal *terminal);

/* What the program named its window, "" before that: UTF-8 without control characters. Borrowed until the next feed. */
const char *terminal_title(const struct terminal *terminal);

/* True while the alternate screen is shown (a full-screen program runs). */
bool terminal_is_alternate(const struct terminal *terminal);

/*
 * A screen: bytes that make any emulator of the same size show the same cells, cursor, modes, region, character sets,
 * titles and colours, on both screens, with the newest SCROLLBACK lines above. Returns malloc'd bytes, LENGTH of them.
 * They hold no query. A sequence or character that is not complete yet is not in it: terminal_pending() tells it,
 * and a viewer must get that after the screen, before what the program writes next (in one piece with it: xterm.js loses
 * a character that is cut between two writes after a continuation byte 0x80).
 */
uint8_t *terminal_screen(const struct terminal *terminal, uint32_t scrollback, size_t *length);

/* The bytes that bring a parser that has read a screen to where this one stands: the beginning of an unfinished
 * sequence or character, or nothing. Returns malloc'd bytes (never NULL), LENGTH of them, at most PARSER_STRING_BYTES and some. */
uint8_t *terminal_pending(const struct terminal *terminal, size_t *length);

/* Bytes of memory that this terminal holds. */
size_t terminal_memory(const struct terminal *terminal);

#endif
