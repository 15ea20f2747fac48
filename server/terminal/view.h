/*
 * view.h: a terminal row by row, for who draws it in a window that has another size than the terminal, or beside
 * something else: what terminal_screen() gives in one piece for one of the same size.
 */
#ifndef SANDBAR_TERMINAL_VIEW_H
#define SANDBAR_TERMINAL_VIEW_H

#include "terminal.h"

struct terminal_cursor {
	uint32_t column, row; /* within the screen, also where the next character wraps */
	uint32_t style;       /* of DECSCUSR */
	bool is_shown;
};

struct terminal_cursor terminal_cursor(const struct terminal *terminal);

/* What draws the first COLUMNS columns of ROW, with the cursor at their blank beginning and nothing selected; it selects
 * what it needs and leaves nothing selected. Malloc'd bytes, LENGTH of them. */
uint8_t *terminal_row(const struct terminal *terminal, uint32_t row, uint32_t columns, size_t *length);

/* What makes an emulator send keys, pastes and the mouse as the program expects them, whatever it did before, and show
 * its colours reversed or not. Malloc'd bytes, LENGTH of them. */
uint8_t *terminal_keys(const struct terminal *terminal, size_t *length);

#endif
