/*
 * print.c: characters become cells, and lines move up when there is no more room.
 */
#include "state.h"

#include "width.h"

#include <string.h>

void print_leave(void *owner, const struct row *row, const struct row *next)
{
	struct terminal *terminal = owner;
	if (terminal->scrollback.most == 0)
		return;
	struct row_text text = {.terminal = terminal, .bytes = &terminal->line, .detail = LOOK_WHOLE};
	int columns = terminal->main.columns;
	terminal->line.length = 0;
	bool wrapped = row->wrapped && row_text_can_continue(row);
	int filled = row_text_write(&text, row, columns, next && next->wrapped && row_text_can_continue(next), wrapped);
	row_text_look(&text, &(struct look){0});
	struct scrollback_line line = {.columns = (uint16_t)filled, .width = (uint16_t)columns, .wrapped = wrapped};
	scrollback_push(&terminal->scrollback, line, terminal->line.at, terminal->line.length);
}

/* The line at the region's top goes, into the scrollback if that is the top of the main screen. */
static void scroll(struct terminal *terminal, bool is_wrapped)
{
	struct grid *grid = terminal->grid;
	if (grid->top == 0 && grid == &terminal->main) {
		print_leave(terminal, &grid->rows[0], grid->count > 1 ? &grid->rows[1] : NULL);
		if (grid->base < terminal->scrollback.most)
			grid->base++;
	}
	grid_move_up(grid, grid->top, grid->bottom, 1, pen_blank(&terminal->pen));
	grid->rows[grid->bottom].wrapped = is_wrapped;
}

void print_end(struct terminal *terminal)
{
	terminal->join = 0;
	terminal->in_text = false;
}

void print_line_feed(struct terminal *terminal)
{
	struct grid *grid = terminal->grid;
	if (terminal->modes & MODE_NEWLINE)
		grid->x = 0;
	if (grid->y == grid->bottom)
		scroll(terminal, false);
	else if (grid->y < grid->count - 1)
		grid->rows[++grid->y].wrapped = false;
	if (grid->x >= grid->columns)
		grid->x--;
}

void print_index(struct terminal *terminal)
{
	struct grid *grid = terminal->grid;
	cursor_restrict(terminal, grid->columns - 1);
	if (grid->y == grid->bottom)
		scroll(terminal, false);
	else if (grid->y < grid->count - 1)
		grid->y++;
	cursor_restrict(terminal, grid->columns - 1);
}

void print_reverse_index(struct terminal *terminal)
{
	struct grid *grid = terminal->grid;
	cursor_restrict(terminal, grid->columns - 1);
	if (grid->y == grid->top) {
		grid_move_down(grid, grid->top, grid->bottom, 1, pen_blank(&terminal->pen));
		return;
	}
	grid->y--;
	cursor_restrict(terminal, grid->columns - 1);
}

/* What is written over the second half of a wide character takes the first half away. In a line that does not wrap that is not
 * so for what comes right after other text, and is written over the last column: xterm.js looks once for a run of text. */
static void break_head(struct grid *grid, struct cell blank)
{
	struct row *row = grid_row(grid);
	if (grid->x > 0 && grid->x <= grid->columns && cell_width(&row->cells[grid->x - 1]) == 2)
		row->cells[grid->x - 1] = blank;
}

/* And what is written over the first half, the second. */
static void break_tail(struct grid *grid, struct cell blank)
{
	struct row *row = grid_row(grid);
	if (grid->x < grid->columns && cell_width(&row->cells[grid->x]) == 0 && !cell_has_content(&row->cells[grid->x]))
		row->cells[grid->x] = blank;
}

static void wrap(struct terminal *terminal, struct cell blank)
{
	struct grid *grid = terminal->grid;
	struct row *row = grid_row(grid);
	for (int i = grid->x; i < grid->columns; i++) { /* where a wide character did not fit */
		row->cells[i] = blank;
		row_touch(row, i + 1);
	}
	grid->x = 0;
	if (grid->y == grid->bottom) {
		scroll(terminal, true);
		return;
	}
	if (grid->y < grid->count - 1)
		grid->y++;
	grid_row(grid)->wrapped = true;
}

static void insert_room(struct terminal *terminal, int width, struct cell blank)
{
	struct grid *grid = terminal->grid;
	row_insert(grid_row(grid), grid->columns, grid->x, width, blank);
}

static void put_cell(struct grid *grid, struct cell cell)
{
	if (grid->x < grid->columns) {
		struct row *row = grid_row(grid);
		row->cells[grid->x] = cell;
		row_touch(row, grid->x + 1);
	}
	if (grid->x < 2 * TERMINAL_SIZE_MOST)
		grid->x++;
}

static void join_cell(struct terminal *terminal, struct cell *cell, uint32_t character)
{
	char text[CLUSTER_BYTES + 4];
	size_t length;
	uint32_t width = cell->text & ~CELL_CONTENT;
	if (!cell_has_content(cell)) {
		cell->text = character | 1u << CELL_WIDTH_SHIFT;
		return;
	}
	if (cell->text & CELL_CLUSTER) {
		const struct cluster *cluster = decorations_cluster_at(&terminal->decorations, cell->text & CELL_TEXT);
		length = cluster->length;
		memcpy(text, cluster->text, length);
	} else {
		length = utf8_encode(cell->text & CELL_TEXT, text);
	}
	length += utf8_encode(character, text + length);
	if (length > CLUSTER_BYTES)
		return;
	uint32_t number = decorations_cluster(&terminal->decorations, text, (uint32_t)length);
	if (number > 0)
		cell->text = width | CELL_CLUSTER | number;
}

/* Put a combining character into the cell of the character that was just printed. */
static void join(struct terminal *terminal, uint32_t character)
{
	struct grid *grid = terminal->grid;
	struct row *row = grid_row(grid);
	int at = grid->x - 1;
	if (at >= 0 && at < grid->columns && cell_width(&row->cells[at]) == 0)
		at--;
	if (at >= 0 && at < grid->columns)
		join_cell(terminal, &row->cells[at], character);
}

/* Returns false where there is no place for it: a wide one at the end of a line that does not wrap. */
static bool find_place(struct terminal *terminal, int width, struct cell blank)
{
	struct grid *grid = terminal->grid;
	if (grid->x + width <= grid->columns)
		return true;
	if (terminal->modes & MODE_WRAP) {
		wrap(terminal, blank);
		return true;
	}
	grid->x = grid->columns - 1;
	return width < 2;
}

static bool make_room(struct terminal *terminal, int width, struct cell blank)
{
	if (!find_place(terminal, width, blank))
		return false;
	if (terminal->modes & MODE_INSERT)
		insert_room(terminal, width, blank);
	return true;
}

static void put_character(struct grid *grid, struct cell cell, uint32_t text, uint32_t width)
{
	cell.text = text | width << CELL_WIDTH_SHIFT;
	put_cell(grid, cell);
	if (width == 2) {
		cell.text = 0;
		put_cell(grid, cell);
	}
}

void print_character(void *owner, uint32_t character)
{
	struct terminal *terminal = owner;
	struct grid *grid = terminal->grid;
	struct cell cell = pen_cell(&terminal->pen, &terminal->decorations), blank = cell;
	if (character < 0x7f && terminal->charset)
		character = charset_map(terminal->charset, character);
	uint32_t width = width_of(character);
	if (!terminal->in_text)
		break_head(grid, blank);
	terminal->in_text = true;
	if (width == 0 && terminal->join > 0) {
		join(terminal, character);
		return;
	}
	terminal->join = 0;
	if (!make_room(terminal, (int)width, blank)) {
		break_tail(grid, blank);
		return;
	}
	terminal->join = width;
	put_character(grid, cell, character, width);
	break_tail(grid, blank);
}

void print_repeated(struct terminal *terminal, uint32_t text, uint32_t width, int count)
{
	struct grid *grid = terminal->grid;
	struct cell cell = pen_cell(&terminal->pen, &terminal->decorations), blank = cell;
	break_head(grid, blank);
	while (count > 0 && find_place(terminal, (int)width, blank)) {
		int room = (grid->columns - grid->x) / (int)width, run = room < count ? room : count;
		if (terminal->modes & MODE_INSERT)
			insert_room(terminal, run * (int)width, blank);
		for (int i = 0; i < run; i++)
			put_character(grid, cell, text, width);
		count -= run;
	}
	terminal->join = width;
	break_tail(grid, blank);
}

/* ASCII that is neither mapped nor inserted: runs of cells. */
static void print_run(struct terminal *terminal, const uint8_t *text, size_t length, struct cell cell)
{
	struct grid *grid = terminal->grid;
	struct cell blank = cell;
	if (!terminal->in_text)
		break_head(grid, blank);
	terminal->in_text = true;
	while (length > 0) {
		if (grid->x >= grid->columns)
			make_room(terminal, 1, blank);
		size_t run = (size_t)(grid->columns - grid->x);
		if (run > length)
			run = length;
		struct row *row = grid_row(grid);
		struct cell *to = row->cells + grid->x;
		for (size_t i = 0; i < run; i++) {
			cell.text = text[i] | 1u << CELL_WIDTH_SHIFT;
			to[i] = cell;
		}
		grid->x += (int)run;
		row_touch(row, grid->x);
		text += run;
		length -= run;
	}
	terminal->join = 1;
	break_tail(grid, blank);
}

void print_text(void *owner, const uint8_t *text, size_t length)
{
	struct terminal *terminal = owner;
	if (!terminal->charset && !(terminal->modes & MODE_INSERT)) {
		print_run(terminal, text, length, pen_cell(&terminal->pen, &terminal->decorations));
		return;
	}
	for (size_t i = 0; i < length; i++)
		print_character(terminal, text[i]);
}
