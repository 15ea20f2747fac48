#include "grid.h"

#include "bytes.h"

#include <stdlib.h>
#include <string.h>

enum { TAB_COLUMNS = 8 };

bool grid_is_usual_tab(int x)
{
	return x % TAB_COLUMNS == 0;
}

int grid_saved_row(const struct grid *grid)
{
	int64_t y = grid->saved.line - grid->base;
	return y < 0 ? 0 : y >= grid->count ? grid->count - 1 : (int)y;
}

static void reset(struct grid *grid)
{
	grid->x = grid->y = grid->top = 0;
	grid->bottom = grid->count - 1;
	grid->base = 0;
	grid_reset_tabs(grid);
}

void grid_init(struct grid *grid, int columns, int count)
{
	*grid = (struct grid){.columns = columns, .count = count};
	grid->tabs = terminal_allocate((size_t)columns, 1);
	reset(grid);
}

static void free_rows(struct grid *grid)
{
	free(grid->rows);
	free(grid->cells);
	grid->rows = NULL;
	grid->cells = NULL;
}

void grid_finish(struct grid *grid)
{
	free_rows(grid);
	free(grid->tabs);
	grid->tabs = NULL;
}

static void make_rows(struct grid *grid, struct cell blank)
{
	size_t columns = (size_t)grid->columns, count = (size_t)grid->count;
	grid->cells = terminal_allocate(columns * count, sizeof *grid->cells);
	grid->rows = terminal_allocate(count, sizeof *grid->rows);
	for (size_t i = 0; i < count; i++) {
		grid->rows[i] = (struct row){.cells = grid->cells + i * columns, .used = grid->columns};
		row_fill(&grid->rows[i], grid->columns, blank);
	}
}

void grid_show(struct grid *grid, struct cell blank)
{
	if (!grid->rows)
		make_rows(grid, blank);
}

void grid_hide(struct grid *grid)
{
	free_rows(grid);
	reset(grid);
}

void grid_reset_tabs(struct grid *grid)
{
	for (int i = 0; i < grid->columns; i++)
		grid->tabs[i] = grid_is_usual_tab(i);
}

static void reverse(struct row *rows, int first, int last)
{
	for (; first < last; first++, last--) {
		struct row row = rows[first];
		rows[first] = rows[last];
		rows[last] = row;
	}
}

static void clear_rows(struct grid *grid, int first, int last, struct cell blank)
{
	for (int i = first; i <= last; i++) {
		row_fill(&grid->rows[i], grid->columns, blank);
		grid->rows[i].wrapped = false;
	}
}

void grid_reset(struct grid *grid)
{
	if (grid->rows)
		clear_rows(grid, 0, grid->count - 1, CELL_BLANK);
	reset(grid);
	grid->saved = (struct saved_cursor){0};
}

/* Turn the rows from FIRST to LAST so that the one at FIRST + COUNT comes first. */
static void rotate(struct grid *grid, int first, int last, int count)
{
	if (count == 1) {
		struct row row = grid->rows[first];
		memmove(grid->rows + first, grid->rows + first + 1, (size_t)(last - first) * sizeof row);
		grid->rows[last] = row;
		return;
	}
	reverse(grid->rows, first, first + count - 1);
	reverse(grid->rows, first + count, last);
	reverse(grid->rows, first, last);
}

void grid_move_up(struct grid *grid, int first, int last, int count, struct cell blank)
{
	int height = last - first + 1;
	if (count < height)
		rotate(grid, first, last, count);
	else
		count = height;
	clear_rows(grid, last - count + 1, last, blank);
}

void grid_move_down(struct grid *grid, int first, int last, int count, struct cell blank)
{
	int height = last - first + 1;
	if (count < height)
		rotate(grid, first, last, height - count);
	else
		count = height;
	clear_rows(grid, first, first + count - 1, blank);
}

int grid_next_tab(const struct grid *grid, int x)
{
	do
		x++;
	while (x < grid->columns && !grid->tabs[x]);
	return x >= grid->columns ? grid->columns - 1 : x;
}

int grid_previous_tab(const struct grid *grid, int x)
{
	do
		x--;
	while (x > 0 && !(x < grid->columns && grid->tabs[x]));
	return x < 0 ? 0 : x;
}

/* New columns go on with stops at every eighth from the last one that is set. */
static void resize_tabs(struct grid *grid, int columns)
{
	int old = grid->columns, last = 0;
	grid->tabs = terminal_reallocate(grid->tabs, (size_t)columns, 1);
	for (int i = old; i < columns; i++)
		grid->tabs[i] = 0;
	for (int i = 0; i < columns; i++)
		if (grid->tabs[i])
			last = i;
	for (int i = last; i < columns; i += TAB_COLUMNS)
		grid->tabs[i] = 1;
}

/* How many rows go at the top when COUNT are to be left: those that cannot go below the cursor. */
static int leaving(const struct grid *grid, int count)
{
	int surplus = grid->count - count, below = grid->count - 1 - grid->y;
	return surplus <= below ? 0 : surplus - below;
}

static void cut_head(struct row *row, int columns)
{
	if (columns > 0 && cell_width(&row->cells[columns - 1]) == 2)
		row->cells[columns - 1] = CELL_BLANK;
}

/* Only in the last column can a wide character be partly written over (print.c): there it is no more when columns follow. */
static void cut_overhang(struct row *row, int columns)
{
	if (columns > 1 && cell_width(&row->cells[columns - 2]) == 2 && cell_width(&row->cells[columns - 1]) > 0)
		row->cells[columns - 2] = CELL_BLANK;
}

static void resize_rows(struct grid *grid, int columns, int count, int gone)
{
	struct grid old = *grid;
	grid->columns = columns;
	grid->count = count;
	make_rows(grid, CELL_BLANK);
	int copied = old.columns < columns ? old.columns : columns;
	for (int i = 0; i < count && i + gone < old.count; i++) {
		struct row *from = &old.rows[i + gone], *to = &grid->rows[i];
		memcpy(to->cells, from->cells, (size_t)copied * sizeof *to->cells);
		to->used = from->used < copied ? from->used : copied;
		to->wrapped = from->wrapped;
		if (columns < old.columns)
			cut_head(to, columns);
		else if (columns > old.columns)
			cut_overhang(to, old.columns);
	}
	free(old.rows);
	free(old.cells);
}

int grid_resize(struct grid *grid, int columns, int count, grid_leave *leave, void *owner)
{
	int gone = 0;
	resize_tabs(grid, columns);
	if (grid->rows) {
		gone = leaving(grid, count);
		for (int i = 0; leave && i < gone; i++)
			leave(owner, &grid->rows[i], i + 1 < grid->count ? &grid->rows[i + 1] : NULL);
		resize_rows(grid, columns, count, gone);
		grid->y -= gone;
	}
	grid->columns = columns;
	grid->count = count;
	grid->top = 0;
	grid->bottom = count - 1;
	grid->x = grid->x < columns ? grid->x : columns - 1;
	grid->y = grid->y < count ? grid->y : count - 1;
	grid->saved.x = grid->saved.x < columns ? grid->saved.x : columns - 1;
	return gone;
}

size_t grid_memory(const struct grid *grid)
{
	size_t bytes = (size_t)grid->columns;
	if (grid->rows)
		bytes += (size_t)grid->count * (sizeof(struct row) + (size_t)grid->columns * sizeof(struct cell));
	return bytes;
}
