/*
 * state.h: what a terminal is made of; for the files of this folder, and for tests that compare.
 */
#ifndef SANDBAR_TERMINAL_STATE_H
#define SANDBAR_TERMINAL_STATE_H

#include "decoration.h"
#include "grid.h"
#include "parser.h"
#include "pen.h"
#include "scrollback.h"
#include "terminal.h"

/* Modes that are on or off, as bits of terminal.modes. */
enum mode {
	MODE_INSERT = 1 << 0,
	MODE_NEWLINE = 1 << 1,
	MODE_CURSOR_KEYS = 1 << 2,
	MODE_INVERSE = 1 << 3,
	MODE_ORIGIN = 1 << 4,
	MODE_WRAP = 1 << 5,
	MODE_BLINK = 1 << 6,
	MODE_CURSOR = 1 << 7,
	MODE_REVERSE_WRAP = 1 << 8,
	MODE_KEYPAD = 1 << 9,
	MODE_FOCUS = 1 << 10,
	MODE_MOUSE_UTF8 = 1 << 11,
	MODE_MOUSE_URXVT = 1 << 12,
	MODE_SCROLL_KEYS = 1 << 13,
	MODE_PASTE = 1 << 14,
	MODE_SYNCHRONIZED = 1 << 15,
};

enum { CHARSETS = 4, PALETTE_COLOURS = 256 };

/* Colours that a program may set, beside those of the palette: OSC 10, 11, 12. */
enum special_colour { SPECIAL_FOREGROUND, SPECIAL_BACKGROUND, SPECIAL_CURSOR, SPECIAL_COLOURS };

enum { COLOUR_SET = 1 << 24 }; /* beside 0xrrggbb: it was set */

struct palette {
	uint32_t colours[PALETTE_COLOURS];
	uint32_t special[SPECIAL_COLOURS];
};

/* A title and those pushed beneath it, the oldest first. */
struct title {
	char *now; /* never NULL */
	char *stack[TERMINAL_TITLE_STACK];
	uint32_t depth;
};

struct terminal {
	struct parser parser;
	struct grid main, alternate;
	struct grid *grid; /* the one shown */
	struct scrollback scrollback;
	struct decorations decorations;
	struct bytes line; /* scratch: a line on its way into the scrollback */

	struct pen pen;
	char charsets[CHARSETS]; /* by their final byte; 0 is ASCII */
	uint32_t level;          /* the one that is shifted in */
	char charset;            /* in use: that of level, but for what DECRC brings back */

	uint32_t modes;
	uint32_t mouse_protocol; /* 0, 9, 1000, 1002, 1003 */
	uint32_t mouse_encoding; /* 0, 1006, 1016 */
	uint32_t cursor_style;   /* of DECSCUSR */
	uint32_t modify_keys;    /* of XTMODKEYS 4 */
	/* What a combining character joins with: the width of the character that was just printed; 0 after anything else. */
	uint32_t join;
	bool in_text; /* nothing but text came since the last character */

	struct title title, icon;
	struct palette *palette;          /* NULL: nothing was set */
	struct terminal_answers *answers; /* NULL: nobody is to be answered */
};

/* print.c */
void print_text(void *terminal, const uint8_t *text, size_t length);
void print_character(void *terminal, uint32_t character);
/* COUNT times what a cell of WIDTH has as its TEXT, where lines wrap. */
void print_repeated(struct terminal *terminal, uint32_t text, uint32_t width, int count);
void print_end(struct terminal *terminal); /* something else than text came */
void print_line_feed(struct terminal *terminal);
void print_index(struct terminal *terminal);
void print_reverse_index(struct terminal *terminal);
/* A line that goes at the top of the main screen; NEXT, if not NULL, is the one below it. */
void print_leave(void *terminal, const struct row *row, const struct row *next);

/* cursor.c: as in xterm.js, a move in origin mode counts from the region's top. */
void cursor_restrict(struct terminal *terminal, int last_column);
void cursor_set(struct terminal *terminal, int x, int y);
void cursor_move(struct terminal *terminal, int x, int y);
void cursor_save(struct terminal *terminal);
void cursor_restore(struct terminal *terminal);

/* charset.c */
char charset_by_final(uint32_t final); /* 0 for ASCII; -1 if there is none of that name */
uint32_t charset_map(char charset, uint32_t character);
void charset_shift(struct terminal *terminal, uint32_t level);
void charset_designate(struct terminal *terminal, uint32_t level, char charset);

/* What the parser tells. */
void control_run(void *terminal, uint32_t control);
void escape_run(void *terminal, uint32_t id);
void csi_run(void *terminal, uint32_t id, const struct params *params);
void osc_run(void *terminal, int32_t number, char *text, bool is_bell);
void dcs_run(void *terminal, uint32_t id, const struct params *params, const char *text);

/* edit.c, mode.c, answer.c, title.c: the rows of csi.c's table. */
typedef void csi_handler(struct terminal *terminal, const struct params *params);
csi_handler edit_insert_characters, edit_delete_characters, edit_erase_characters, edit_insert_lines, edit_delete_lines,
	edit_scroll_up, edit_scroll_down, edit_scroll_left, edit_scroll_right, edit_insert_columns, edit_delete_columns,
	edit_erase_display, edit_erase_display_unprotected, edit_erase_line, edit_erase_line_unprotected, edit_repeat;
csi_handler mode_set, mode_reset, mode_set_private, mode_reset_private, mode_soft_reset;
csi_handler answer_attributes, answer_attributes_second, answer_attributes_third, answer_status, answer_status_private,
	answer_version, answer_mode, answer_mode_private;
void answer_window(struct terminal *terminal, const struct params *params);
void answer_status_string(struct terminal *terminal, const char *text);
void answer_capability(struct terminal *terminal);
void answer_colour(struct terminal *terminal, const char *name, uint32_t rgb, bool is_bell);
void edit_alignment(struct terminal *terminal);
void mode_restore_defaults(struct terminal *terminal);
void mode_full_reset(struct terminal *terminal);

void title_set(struct title *title, const char *text);
void title_push(struct title *title);
void title_pop(struct title *title);
void title_init(struct title *title);
void title_finish(struct title *title);

void palette_run(struct terminal *terminal, int32_t number, char *text, bool is_bell);
/* Append what gives an emulator the colours that were set. */
void palette_write(const struct palette *palette, struct bytes *bytes);

/* row_text.c: what draws lines and cells in an emulator whose pen looks like NOW. */
struct row_text {
	const struct terminal *terminal;
	struct bytes *bytes;
	struct look now;
	enum look_detail detail;
};

/* Append what draws ROW, from its first column on, which is blank. IS_FILLED: up to the last column, so that the next line
 * can go on from it. CONTINUES: the cursor is still behind the line above, which was filled. Returns the column behind the last character. */
int row_text_write(struct row_text *text, const struct row *row, int columns, bool is_filled, bool continues);
/* True if ROW can be drawn so that it goes on from a filled line. */
bool row_text_can_continue(const struct row *row);
/* Append the cell at AT of ROW alone. */
void row_text_cell(struct row_text *text, const struct row *row, int columns, int at);
void row_text_look(struct row_text *text, const struct look *look);
/* Append CR and LF, which leave the new line without a colour. */
void row_text_new_line(struct row_text *text);

#endif
