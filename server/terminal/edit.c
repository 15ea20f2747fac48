/*
 * edit.c: inserting, deleting, erasing and scrolling, as sequences ask for it.
 */
#include "state.h"

enum { COUNT_MOST = 2 * TERMINAL_SIZE_MOST }; /* more lines or columns than there can be */

static int count_of(const struct params *params)
{
	return params_count(params, 0, COUNT_MOST);
}

static struct cell blank_of(const struct terminal *terminal)
{
	return pen_blank(&terminal->pen);
}

static bool is_in_region(const struct grid *grid)
{
	return grid->y >= grid->top && grid->y <= grid->bottom;
}

void edit_insert_characters(struct terminal *terminal, const struct params *params)
{
	struct grid *grid = terminal->grid;
	cursor_restrict(terminal, grid->columns - 1);
	row_insert(grid_row(grid), grid->columns, grid->x, count_of(params), blank_of(terminal));
}

void edit_delete_characters(struct terminal *terminal, const struct params *params)
{
	struct grid *grid = terminal->grid;
	cursor_restrict(terminal, grid->columns - 1);
	row_delete(grid_row(grid), grid->columns, grid->x, count_of(params), blank_of(terminal));
}

void edit_erase_characters(struct terminal *terminal, const struct params *params)
{
	struct grid *grid = terminal->grid;
	cursor_restrict(terminal, grid->columns - 1);
	row_erase(grid_row(grid), grid->columns, grid->x, grid->x + count_of(params), blank_of(terminal));
}

void edit_insert_lines(struct terminal *terminal, const struct params *params)
{
	struct grid *grid = terminal->grid;
	cursor_restrict(terminal, grid->columns - 1);
	if (!is_in_region(grid))
		return;
	grid_move_down(grid, grid->y, grid->bottom, count_of(params), blank_of(terminal));
	grid->x = 0;
}

void edit_delete_lines(struct terminal *terminal, const struct params *params)
{
	struct grid *grid = terminal->grid;
	cursor_restrict(terminal, grid->columns - 1);
	if (!is_in_region(grid))
		return;
	grid_move_up(grid, grid->y, grid->bottom, count_of(params), blank_of(terminal));
	grid->x = 0;
}

void edit_scroll_up(struct terminal *terminal, const struct params *params)
{
	struct grid *grid = terminal->grid;
	grid_move_up(grid, grid->top, grid->bottom, count_of(params), blank_of(terminal));
}

void edit_scroll_down(struct terminal *terminal, const struct params *params)
{
	struct grid *grid = terminal->grid;
	grid_move_down(grid, grid->top, grid->bottom, count_of(params), CELL_BLANK);
}

typedef void row_edit(struct row *row, int columns, int at, int count, struct cell blank);

/* In each line of the region the same. */
static void edit_columns(struct terminal *terminal, const struct params *params, int at, row_edit *edit)
{
	struct grid *grid = terminal->grid;
	if (!is_in_region(grid))
		return;
	for (int y = grid->top; y <= grid->bottom; y++) {
		edit(&grid->rows[y], grid->columns, at, count_of(params), blank_of(terminal));
		grid->rows[y].wrapped = false;
	}
}

void edit_scroll_left(struct terminal *terminal, const struct params *params)
{
	edit_columns(terminal, params, 0, row_delete);
}

void edit_scroll_right(struct terminal *terminal, const struct params *params)
{
	edit_columns(terminal, params, 0, row_insert);
}

void edit_insert_columns(struct terminal *terminal, const struct params *params)
{
	edit_columns(terminal, params, terminal->grid->x, row_insert);
}

void edit_delete_columns(struct terminal *terminal, const struct params *params)
{
	edit_columns(terminal, params, terminal->grid->x, row_delete);
}

/* The two ways to erase: all, or what is not protected. */
struct eraser {
	void (*part)(struct row *row, int columns, int begin, int end, struct cell blank);
	void (*whole)(struct row *row, int columns, struct cell blank);
};

static const struct eraser erase_all = {row_erase, row_fill};
static const struct eraser erase_unprotected = {row_erase_unprotected, row_fill_unprotected};

static void erase_rows(struct terminal *terminal, const struct eraser *eraser, int first, int end)
{
	struct grid *grid = terminal->grid;
	for (int y = first; y < end; y++) {
		eraser->whole(&grid->rows[y], grid->columns, blank_of(terminal));
		grid->rows[y].wrapped = false;
	}
}

static void erase_part(struct terminal *terminal, const struct eraser *eraser, int begin, int end)
{
	struct grid *grid = terminal->grid;
	eraser->part(grid_row(grid), grid->columns, begin, end, blank_of(terminal));
}

static void erase_scrollback(struct terminal *terminal)
{
	if (terminal->grid != &terminal->main)
		return;
	scrollback_clear(&terminal->scrollback);
	terminal->main.base = 0;
}

static void erase_display(struct terminal *terminal, const struct params *params, const struct eraser *eraser)
{
	struct grid *grid = terminal->grid;
	cursor_restrict(terminal, grid->columns);
	switch (params_at(params, 0)) {
	case 0:
		erase_part(terminal, eraser, grid->x, grid->columns);
		if (grid->x == 0)
			grid_row(grid)->wrapped = false;
		erase_rows(terminal, eraser, grid->y + 1, grid->count);
		break;
	case 1:
		erase_part(terminal, eraser, 0, grid->x + 1);
		grid_row(grid)->wrapped = false;
		erase_rows(terminal, eraser, 0, grid->y);
		break;
	case 2:
		erase_rows(terminal, eraser, 0, grid->count);
		break;
	case 3:
		erase_scrollback(terminal);
		break;
	default:
		break;
	}
}

void edit_erase_display(struct terminal *terminal, const struct params *params)
{
	erase_display(terminal, params, &erase_all);
}

void edit_erase_display_unprotected(struct terminal *terminal, const struct params *params)
{
	erase_display(terminal, params, &erase_unprotected);
}

static void erase_line(struct terminal *terminal, const struct params *params, const struct eraser *eraser)
{
	struct grid *grid = terminal->grid;
	cursor_restrict(terminal, grid->columns);
	int32_t which = params_at(params, 0);
	if (which == 0)
		erase_part(terminal, eraser, grid->x, grid->columns);
	else if (which == 1)
		erase_part(terminal, eraser, 0, grid->x + 1);
	else if (which == 2)
		erase_part(terminal, eraser, 0, grid->columns);
	if (which == 2 || (which == 0 && grid->x == 0))
		grid_row(grid)->wrapped = false;
}

void edit_erase_line(struct terminal *terminal, const struct params *params)
{
	erase_line(terminal, params, &erase_all);
}

void edit_erase_line_unprotected(struct terminal *terminal, const struct params *params)
{
	erase_line(terminal, params, &erase_unprotected);
}

/* More repetitions than push all there was off the screen give the same again: only where in a line they end matters. */
static int repetitions_that_wrap(const struct terminal *terminal, int32_t count)
{
	int32_t line = terminal->grid->columns / (int32_t)terminal->join;
	int32_t screen = line * (terminal->grid->count + 1);
	return count < screen ? count : screen + (count - screen) % line;
}

static void repeat_and_wrap(struct terminal *terminal, const struct cell *cell, int32_t count)
{
	uint32_t text = cell->text & CELL_CONTENT;
	if (text < 0x7f && terminal->charset)
		text = charset_map(terminal->charset, text);
	print_repeated(terminal, text, terminal->join, repetitions_that_wrap(terminal, count));
}

/* At the end of a line that does not wrap nothing changes any more. */
static void repeat_in_line(struct terminal *terminal, const struct cell *cell, int32_t count)
{
	struct cluster cluster = {.length = 0};
	if (cell->text & CELL_CLUSTER)
		cluster = *decorations_cluster_at(&terminal->decorations, cell->text & CELL_TEXT);
	else
		cluster.length = (uint8_t)utf8_encode(cell->text & CELL_TEXT, cluster.text);
	int32_t most = terminal->grid->columns + 2;
	for (int32_t left = count < most ? count : most; left > 0; left--)
		for (size_t i = 0, length; i < cluster.length; i += length)
			print_character(terminal, utf8_decode(cluster.text + i, &length));
}

void edit_repeat(struct terminal *terminal, const struct params *params)
{
	struct grid *grid = terminal->grid;
	int at = grid->x - (int)terminal->join;
	if (terminal->join == 0 || at < 0 || at >= grid->columns)
		return;
	struct cell cell = grid_row(grid)->cells[at];
	if (!cell_has_content(&cell))
		return;
	bool is_wrapping = terminal->modes & MODE_WRAP;
	(is_wrapping ? repeat_and_wrap : repeat_in_line)(terminal, &cell, params_count(params, 0, INT32_MAX));
}

/* DECALN: a screen of E. */
void edit_alignment(struct terminal *terminal)
{
	struct grid *grid = terminal->grid;
	struct cell cell = {.text = 'E' | 1u << CELL_WIDTH_SHIFT, .fg = terminal->pen.fg, .bg = terminal->pen.bg};
	cursor_set(terminal, 0, 0);
	int first = grid == &terminal->main ? grid->y : 0;
	for (int y = first; y < grid->count; y++) {
		row_fill(&grid->rows[y], grid->columns, cell);
		grid->rows[y].wrapped = false;
	}
	cursor_set(terminal, 0, 0);
}
