#include "state.h"

#include <stdlib.h>

static int between(uint32_t value, uint32_t least, uint32_t most)
{
	return (int)(value < least ? least : value > most ? most : value);
}

static int columns_of(uint32_t columns)
{
	return between(columns, TERMINAL_COLUMNS_LEAST, TERMINAL_SIZE_MOST);
}

static int rows_of(uint32_t rows)
{
	return between(rows, 1, TERMINAL_SIZE_MOST);
}

static void mark_grid(struct decorations *decorations, const struct grid *grid)
{
	if (!grid->rows)
		return;
	for (int y = 0; y < grid->count; y++) {
		const struct row *row = &grid->rows[y];
		for (int x = 0; x < row->used; x++) {
			const struct cell *cell = &row->cells[x];
			if (cell->text & CELL_CLUSTER)
				pool_mark(&decorations->clusters, cell->text & CELL_TEXT);
			if (cell->decoration)
				pool_mark(&decorations->decorations, cell->decoration);
		}
	}
}

/* What cells and the pen name. */
static void mark(void *owner)
{
	struct terminal *terminal = owner;
	mark_grid(&terminal->decorations, &terminal->main);
	mark_grid(&terminal->decorations, &terminal->alternate);
	pool_mark(&terminal->decorations.decorations, terminal->pen.number);
	pool_mark(&terminal->decorations.links, terminal->pen.decoration.link);
}

struct terminal *terminal_create(uint32_t columns, uint32_t rows, uint32_t scrollback)
{
	struct terminal *terminal = terminal_allocate(1, sizeof *terminal);
	parser_init(&terminal->parser);
	grid_init(&terminal->main, columns_of(columns), rows_of(rows));
	grid_init(&terminal->alternate, columns_of(columns), rows_of(rows));
	grid_show(&terminal->main, CELL_BLANK);
	terminal->grid = &terminal->main;
	scrollback_init(&terminal->scrollback, (uint32_t)between(scrollback, 0, TERMINAL_SCROLLBACK_LINES));
	decorations_init(&terminal->decorations, mark, terminal);
	title_init(&terminal->title);
	title_init(&terminal->icon);
	terminal->modes = MODE_WRAP | MODE_CURSOR;
	return terminal;
}

void terminal_destroy(struct terminal *terminal)
{
	if (!terminal)
		return;
	parser_finish(&terminal->parser);
	grid_finish(&terminal->main);
	grid_finish(&terminal->alternate);
	scrollback_finish(&terminal->scrollback);
	decorations_finish(&terminal->decorations);
	bytes_finish(&terminal->line);
	title_finish(&terminal->title);
	title_finish(&terminal->icon);
	free(terminal->palette);
	free(terminal);
}

void terminal_cleanup(struct terminal **terminal)
{
	terminal_destroy(*terminal);
	*terminal = NULL;
}

void terminal_feed(struct terminal *terminal, const void *bytes, size_t length, struct terminal_answers *answers)
{
	static const struct parser_calls calls = {.text = print_text,
	                                          .character = print_character,
	                                          .control = control_run,
	                                          .escape = escape_run,
	                                          .csi = csi_run,
	                                          .osc = osc_run,
	                                          .dcs = dcs_run};
	if (answers)
		answers->length = answers->dropped = 0;
	terminal->answers = answers;
	parser_feed(&terminal->parser, bytes, length, &calls, terminal);
	terminal->answers = NULL;
}

void terminal_resize(struct terminal *terminal, uint32_t columns, uint32_t rows)
{
	int wide = columns_of(columns), high = rows_of(rows);
	struct grid *main = &terminal->main;
	if (wide == main->columns && high == main->count)
		return;
	main->base += grid_resize(main, wide, high, print_leave, terminal);
	if (main->base > terminal->scrollback.most)
		main->base = terminal->scrollback.most;
	grid_resize(&terminal->alternate, wide, high, NULL, NULL);
	print_end(terminal);
}

uint32_t terminal_columns(const struct terminal *terminal)
{
	return (uint32_t)terminal->main.columns;
}

uint32_t terminal_rows(const struct terminal *terminal)
{
	return (uint32_t)terminal->main.count;
}

const char *terminal_title(const struct terminal *terminal)
{
	return terminal->title.now;
}

bool terminal_is_alternate(const struct terminal *terminal)
{
	return terminal->grid == &terminal->alternate;
}

static size_t title_memory(const struct title *title)
{
	return (title->depth + 1) * TERMINAL_TITLE_BYTES; /* at most */
}

size_t terminal_memory(const struct terminal *terminal)
{
	return sizeof *terminal + grid_memory(&terminal->main) + grid_memory(&terminal->alternate) +
	       scrollback_memory(&terminal->scrollback) + decorations_memory(&terminal->decorations) +
	       terminal->parser.string.capacity + terminal->line.capacity + title_memory(&terminal->title) +
	       title_memory(&terminal->icon) + (terminal->palette ? sizeof *terminal->palette : 0);
}
