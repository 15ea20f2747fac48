#include "view.h"

#include "mode.h"

struct terminal_cursor terminal_cursor(const struct terminal *terminal)
{
	const struct grid *grid = terminal->grid;

	return (struct terminal_cursor){
		.column = (uint32_t)(grid->x < grid->columns ? grid->x : grid->columns - 1),
		.row = (uint32_t)grid->y,
		.style = terminal->cursor_style,
		.is_shown = (terminal->modes & MODE_CURSOR) != 0,
	};
}

uint8_t *terminal_row(const struct terminal *terminal, uint32_t row, uint32_t columns, size_t *length)
{
	const struct grid *grid = terminal->grid;
	struct bytes bytes = {0};
	struct row_text text = {.terminal = terminal, .bytes = &bytes, .detail = LOOK_WHOLE};
	int most = columns < (uint32_t)grid->columns ? (int)columns : grid->columns;

	if (row < (uint32_t)grid->count) {
		struct row cut = grid->rows[row];
		if (cut.used > most)
			cut.used = most;
		row_text_write(&text, &cut, most, false, false);
		row_text_look(&text, &(struct look){0});
	}
	return bytes_steal(&bytes, length);
}

static void write_mode(struct bytes *bytes, uint32_t number, bool is_set)
{
	bytes_format(bytes, "\x1b[?%u%c", number, is_set ? 'h' : 'l');
}

enum {
	MODES_OF_KEYS = MODE_CURSOR_KEYS | MODE_INVERSE | MODE_FOCUS | MODE_MOUSE_UTF8 | MODE_MOUSE_URXVT | MODE_PASTE,
};

uint8_t *terminal_keys(const struct terminal *terminal, size_t *length)
{
	static const uint32_t protocols[] = {9, 1000, 1002, 1003};
	struct bytes bytes = {0};

	for (const struct mode_row *row = mode_rows; row->mode; row++)
		if (row->is_private && row->mode & MODES_OF_KEYS)
			write_mode(&bytes, (uint32_t)row->number, terminal->modes & row->mode);
	for (size_t i = 0; i < sizeof protocols / sizeof protocols[0]; i++)
		if (protocols[i] != terminal->mouse_protocol)
			write_mode(&bytes, protocols[i], false);
	if (terminal->mouse_protocol)
		write_mode(&bytes, terminal->mouse_protocol, true);
	write_mode(&bytes, 1006, terminal->mouse_encoding == 1006);
	bytes_text(&bytes, terminal->modes & MODE_KEYPAD ? "\x1b=" : "\x1b>");
	bytes_format(&bytes, "\x1b[>4;%um", terminal->modify_keys);
	return bytes_steal(&bytes, length);
}
