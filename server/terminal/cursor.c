#include "state.h"

static int between(int value, int least, int most)
{
	return value < least ? least : value > most ? most : value;
}

void cursor_restrict(struct terminal *terminal, int last_column)
{
	struct grid *grid = terminal->grid;
	grid->x = between(grid->x, 0, last_column);
	grid->y = terminal->modes & MODE_ORIGIN ? between(grid->y, grid->top, grid->bottom)
	                                        : between(grid->y, 0, grid->count - 1);
}

void cursor_set(struct terminal *terminal, int x, int y)
{
	struct grid *grid = terminal->grid;
	grid->x = x;
	grid->y = terminal->modes & MODE_ORIGIN ? grid->top + y : y;
	cursor_restrict(terminal, grid->columns - 1);
}

void cursor_move(struct terminal *terminal, int x, int y)
{
	struct grid *grid = terminal->grid;
	cursor_restrict(terminal, grid->columns - 1);
	cursor_set(terminal, grid->x + x, grid->y + y);
}

void cursor_save(struct terminal *terminal)
{
	struct grid *grid = terminal->grid;
	grid->saved = (struct saved_cursor){.x = grid->x,
	                                    .line = grid->base + grid->y,
	                                    .fg = terminal->pen.fg,
	                                    .bg = terminal->pen.bg,
	                                    .charset = terminal->charset};
}

void cursor_restore(struct terminal *terminal)
{
	struct grid *grid = terminal->grid;
	grid->x = grid->saved.x;
	grid->y = grid_saved_row(grid);
	terminal->pen.fg = grid->saved.fg;
	terminal->pen.bg = grid->saved.bg;
	terminal->charset = grid->saved.charset;
	cursor_restrict(terminal, grid->columns - 1);
}
