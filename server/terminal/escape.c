/*
 * escape.c: control characters, and escape sequences that are no control sequences.
 */
#include "state.h"

static void backspace(struct terminal *terminal)
{
	struct grid *grid = terminal->grid;
	if (!(terminal->modes & MODE_REVERSE_WRAP)) {
		cursor_restrict(terminal, grid->columns - 1);
		if (grid->x > 0)
			grid->x--;
		return;
	}
	cursor_restrict(terminal, grid->columns);
	if (grid->x > 0) {
		grid->x--;
	} else if (grid->y > grid->top && grid->y <= grid->bottom && grid_row(grid)->wrapped) {
		grid_row(grid)->wrapped = false;
		grid->y--;
		grid->x = grid->columns - 1;
		const struct cell *last = &grid_row(grid)->cells[grid->x];
		if (cell_width(last) > 0 && !cell_has_content(last)) /* a wide character did not fit there */
			grid->x--;
	}
	cursor_restrict(terminal, grid->columns - 1);
}

static void tab(struct terminal *terminal)
{
	struct grid *grid = terminal->grid;
	if (grid->x < grid->columns)
		grid->x = grid_next_tab(grid, grid->x);
}

static void carriage_return(struct terminal *terminal)
{
	terminal->grid->x = 0;
}

static void shift_out(struct terminal *terminal)
{
	charset_shift(terminal, 1);
}

static void shift_in(struct terminal *terminal)
{
	charset_shift(terminal, 0);
}

static void next_line(struct terminal *terminal)
{
	terminal->grid->x = 0;
	print_index(terminal);
}

static void tab_set(struct terminal *terminal)
{
	struct grid *grid = terminal->grid;
	if (grid->x < grid->columns)
		grid->tabs[grid->x] = 1;
}

static void keypad_application(struct terminal *terminal)
{
	terminal->modes |= MODE_KEYPAD;
}

static void keypad_numeric(struct terminal *terminal)
{
	terminal->modes &= ~(uint32_t)MODE_KEYPAD;
}

static void shift_two(struct terminal *terminal)
{
	charset_shift(terminal, 2);
}

static void shift_three(struct terminal *terminal)
{
	charset_shift(terminal, 3);
}

static void default_charset(struct terminal *terminal)
{
	charset_shift(terminal, 0);
	charset_designate(terminal, 0, 0);
}

static void identify(struct terminal *terminal)
{
	struct params none;
	params_reset(&none);
	answer_attributes(terminal, &none);
}

struct row_of_calls {
	uint32_t id;
	void (*run)(struct terminal *terminal);
};

static const struct row_of_calls controls[] = {
	{'\n', print_line_feed}, {'\v', print_line_feed}, {'\f', print_line_feed},
	{'\r', carriage_return}, {'\b', backspace},       {'\t', tab},
	{0x0e, shift_out},       {0x0f, shift_in},        {0x84, print_index},
	{0x85, next_line},       {0x88, tab_set},         {0, NULL},
};

static const struct row_of_calls escapes[] = {
	{'7', cursor_save},
	{'8', cursor_restore},
	{'D', print_index},
	{'E', next_line},
	{'H', tab_set},
	{'M', print_reverse_index},
	{'Z', identify},
	{'=', keypad_application},
	{'>', keypad_numeric},
	{'c', mode_full_reset},
	{'n', shift_two},
	{'o', shift_three},
	{'|', shift_three},
	{'}', shift_two},
	{'~', shift_out},
	{PARSER_ID(0, '%', '@'), default_charset},
	{PARSER_ID(0, '%', 'G'), default_charset},
	{PARSER_ID(0, '#', '8'), edit_alignment},
	{0, NULL},
};

static void run(const struct row_of_calls *rows, struct terminal *terminal, uint32_t id)
{
	for (; rows->run; rows++)
		if (rows->id == id) {
			rows->run(terminal);
			break;
		}
	print_end(terminal);
}

/* SCS: which intermediate designates which of G0 to G3; / does nothing. */
static void designate(struct terminal *terminal, uint32_t id)
{
	static const char intermediates[] = "()*+-.";
	static const uint8_t levels[] = {0, 1, 2, 3, 1, 2};
	char charset = charset_by_final(id & 0xff);
	for (uint32_t i = 0; i < sizeof levels && charset != (char)-1; i++)
		if ((uint32_t)intermediates[i] == id >> 8)
			charset_designate(terminal, levels[i], charset);
}

void control_run(void *owner, uint32_t control)
{
	run(controls, owner, control);
}

void escape_run(void *owner, uint32_t id)
{
	run(escapes, owner, id);
	designate(owner, id);
}
