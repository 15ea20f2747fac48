/*
 * grid.h: one screen: rows, cursor, scroll region, tab stops, and what DECSC saved.
 */
#ifndef SANDBAR_TERMINAL_GRID_H
#define SANDBAR_TERMINAL_GRID_H

#include "row.h"

#include <stddef.h>
#include <stdint.h>

/*
 * What DECSC saves: the row from the first line of the scrollback on, the colours and flags (not how text is underlined
 * nor a link), and the character set in use.
 */
struct saved_cursor {
	int x;
	int64_t line;
	uint32_t fg, bg;
	char charset;
};

struct grid {
	struct row *rows;   /* NULL: the alternate screen while it is not shown */
	struct cell *cells; /* of all rows; rows move, their cells do not */
	uint8_t *tabs;      /* by column */
	int columns, count;
	int x, y;        /* x is columns after the last column was written: the next character wraps */
	int top, bottom; /* the scroll region, both within */
	int64_t base;    /* how many lines are above */
	struct saved_cursor saved;
};

void grid_init(struct grid *grid, int columns, int count); /* without rows */
void grid_finish(struct grid *grid);
void grid_show(struct grid *grid, struct cell blank); /* give it rows, if it has none */
/* Take its rows away; cursor, region and tab stops are as new. */
void grid_hide(struct grid *grid);
void grid_reset(struct grid *grid); /* as new, with blank rows if it has any */
void grid_reset_tabs(struct grid *grid);
bool grid_is_usual_tab(int x);               /* whether a tab stop is there before any is set */
int grid_saved_row(const struct grid *grid); /* of the cursor that was saved, within the screen */

static inline struct row *grid_row(struct grid *grid)
{
	return &grid->rows[grid->y];
}

/* Move the lines from FIRST to LAST up (down) by COUNT; those that come free are filled with BLANK. */
void grid_move_up(struct grid *grid, int first, int last, int count, struct cell blank);
void grid_move_down(struct grid *grid, int first, int last, int count, struct cell blank);

/* The column of the next (previous) tab stop, else the last (first) one. */
int grid_next_tab(const struct grid *grid, int x);
int grid_previous_tab(const struct grid *grid, int x);

/*
 * Cut or fill with blanks: columns on the right; rows at the bottom, where the cursor's must stay: what is above it
 * then goes. Returns how many rows went at the top, which LEAVE (NULL: nobody) was told of one after the other.
 */
typedef void grid_leave(void *owner, const struct row *row, const struct row *next);
int grid_resize(struct grid *grid, int columns, int count, grid_leave *leave, void *owner);

size_t grid_memory(const struct grid *grid);

#endif
