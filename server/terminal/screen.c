/*
 * screen.c: a terminal as bytes that bring an emulator to where it is.
 */
#include "mode.h"

#include <stdlib.h>
#include <string.h>

enum { SMALL_SCREEN_BYTES = 8192 };

/* An emulator that is being drawn to. */
struct drawing {
	const struct terminal *terminal;
	struct row_text text;
	struct bytes *bytes;
	size_t cell_bytes; /* what lines took, without those above the screen */
};

static void pen_off(struct drawing *drawing)
{
	row_text_look(&drawing->text, &(struct look){0});
}

static void move_to(struct drawing *drawing, int x, int y)
{
	bytes_format(drawing->bytes, "\x1b[%d;%dH", y + 1, x + 1);
}

/*
 * Lines.
 */

/* A line that was kept for another width: what puts the cursor into a column is left out. */
static void put_text(struct bytes *bytes, const uint8_t *text, size_t length)
{
	for (size_t i = 0, end; i < length; i = end) {
		end = i + 1;
		if (text[i] == 0x1b && end < length && text[end] == '[') {
			for (end++; end < length && text[end] >= '0' && text[end] <= ';';)
				end++;
			end = end < length ? end + 1 : end;
			if (text[end - 1] == 'G')
				continue;
		}
		bytes_put(bytes, text + i, end - i);
	}
}

static void draw_kept(struct drawing *drawing, const struct scrollback_line *line, int columns)
{
	struct scrollback_piece pieces[2];
	scrollback_read(&drawing->terminal->scrollback, line, pieces);
	if (line->width == columns) {
		bytes_put(drawing->bytes, pieces[0].at, pieces[0].length);
		bytes_put(drawing->bytes, pieces[1].at, pieces[1].length);
		return;
	}
	struct bytes whole = {0};
	bytes_put(&whole, pieces[0].at, pieces[0].length);
	bytes_put(&whole, pieces[1].at, pieces[1].length);
	put_text(drawing->bytes, whole.at, whole.length);
	bytes_finish(&whole);
}

/* Draw the newest COUNT lines above the screen. Returns whether the screen can go on from the last. */
static bool draw_scrollback(struct drawing *drawing, uint32_t count)
{
	const struct scrollback *scrollback = &drawing->terminal->scrollback;
	int columns = drawing->terminal->main.columns;
	bool is_filled = false, is_aligned = true;
	for (uint32_t left = count; left > 0; left--) {
		const struct scrollback_line *line = scrollback_at(scrollback, left - 1);
		bool continues = line->wrapped && is_filled;
		if (!continues && left < count)
			bytes_text(drawing->bytes, "\r\n");
		draw_kept(drawing, line, columns);
		is_filled = line->columns == line->width;
		is_aligned = (is_aligned || !continues) && line->width == columns;
	}
	return is_filled && is_aligned;
}

static int last_drawn_row(const struct grid *grid)
{
	int last = grid->count - 1;
	while (last > 0 && grid->rows[last].used == 0 && !grid->rows[last].wrapped)
		last--;
	return last;
}

/* ABOVE: lines were drawn before; IS_FILLED: the last of them goes up to the last column. */
static void draw_rows(struct drawing *drawing, const struct grid *grid, bool above, bool is_filled)
{
	int last = above ? grid->count - 1 : last_drawn_row(grid);
	size_t before = drawing->bytes->length;
	for (int y = 0; y <= last; y++) {
		const struct row *row = &grid->rows[y];
		bool continues = row->wrapped && is_filled && row_text_can_continue(row);
		if (!continues && (y > 0 || above))
			row_text_new_line(&drawing->text);
		bool fills = y < last && grid->rows[y + 1].wrapped && row_text_can_continue(&grid->rows[y + 1]);
		is_filled = row_text_write(&drawing->text, row, grid->columns, fills, continues) == grid->columns;
	}
	pen_off(drawing);
	drawing->cell_bytes += drawing->bytes->length - before;
}

/*
 * What belongs to a screen beside its lines.
 */

static bool has_usual_tabs(const struct grid *grid)
{
	for (int i = 0; i < grid->columns; i++)
		if ((grid->tabs[i] != 0) != grid_is_usual_tab(i))
			return false;
	return true;
}

static void draw_tabs(struct drawing *drawing, const struct grid *grid)
{
	if (has_usual_tabs(grid))
		return;
	bytes_text(drawing->bytes, "\x1b[3g");
	for (int i = 0; i < grid->columns; i++)
		if (grid->tabs[i])
			bytes_format(drawing->bytes, "\x1b[%dG\x1bH", i + 1);
}

static bool is_anything_saved(const struct grid *grid)
{
	const struct saved_cursor *saved = &grid->saved;
	return saved->x != 0 || grid_saved_row(grid) != 0 || saved->fg != 0 || saved->bg != 0 || saved->charset != 0;
}

static void designate(struct drawing *drawing, uint32_t level, char charset)
{
	bytes_format(drawing->bytes, "\x1b%c%c", "()*+"[level], charset ? charset : 'B');
}

/* The cursor, pen and character set that were saved, as if they were those of now. */
static void draw_saved_state(struct drawing *drawing, const struct grid *grid)
{
	const struct saved_cursor *saved = &grid->saved;
	struct look look = look_from(saved->fg, saved->bg & ~BG_DECORATED, NULL);
	int x = saved->x < grid->columns ? saved->x : grid->columns - 1;
	move_to(drawing, x, grid_saved_row(grid));
	row_text_look(&drawing->text, &look);
	if (saved->charset)
		designate(drawing, 0, saved->charset);
}

/* A link that was open when the cursor was saved is known by this alone: any link does. */
static bool needs_link(const struct grid *grid)
{
	return (grid->saved.bg & BG_DECORATED) && !(grid->saved.fg & FG_UNDERLINE);
}

static void draw_saved(struct drawing *drawing, const struct grid *grid)
{
	if (!is_anything_saved(grid))
		return;
	draw_saved_state(drawing, grid);
	bytes_text(drawing->bytes, needs_link(grid) ? "\x1b]8;;x\x1b\\\x1b"
	                                              "7\x1b]8;;\x1b\\"
	                                            : "\x1b"
	                                              "7");
	if (grid->saved.charset)
		designate(drawing, 0, 0);
	pen_off(drawing);
}

static void draw_region(struct drawing *drawing, const struct grid *grid)
{
	if (grid->top > 0 || grid->bottom < grid->count - 1)
		bytes_format(drawing->bytes, "\x1b[%d;%dr", grid->top + 1, grid->bottom + 1);
}

/* By mode 1049 where possible: it saves the cursor of the main screen for its own end, in some emulators in a place of
 * its own. But it would fill the screen with the background that was saved. */
static void enter_alternate(struct drawing *drawing)
{
	const struct grid *main = &drawing->terminal->main;
	if ((main->saved.bg & COLOUR_MASK) || needs_link(main)) {
		draw_saved(drawing, main);
		bytes_text(drawing->bytes, "\x1b[?1047h");
		return;
	}
	draw_saved_state(drawing, main);
	bytes_text(drawing->bytes, "\x1b[?1049h");
	if (main->saved.charset)
		designate(drawing, 0, 0);
	pen_off(drawing);
}

static void draw_main(struct drawing *drawing, uint32_t scrollback)
{
	const struct grid *grid = &drawing->terminal->main;
	uint32_t kept = drawing->terminal->scrollback.count;
	uint32_t count = scrollback < kept ? scrollback : kept;
	bool is_filled = draw_scrollback(drawing, count);
	draw_rows(drawing, grid, count > 0, is_filled);
	draw_tabs(drawing, grid);
}

/* What was saved on the alternate screen outlives it. */
static void draw_hidden(struct drawing *drawing, const struct grid *alternate)
{
	if (alternate->rows || !is_anything_saved(alternate))
		return;
	bytes_text(drawing->bytes, "\x1b[?1047h");
	draw_saved(drawing, alternate);
	bytes_text(drawing->bytes, "\x1b[?1047l\x1b[H");
}

static void draw_screens(struct drawing *drawing, uint32_t scrollback)
{
	const struct terminal *terminal = drawing->terminal;
	draw_hidden(drawing, &terminal->alternate);
	draw_main(drawing, scrollback);
	if (terminal->grid == &terminal->main) {
		draw_saved(drawing, &terminal->main);
	} else {
		draw_region(drawing, &terminal->main);
		enter_alternate(drawing);
		move_to(drawing, 0, 0);
		draw_rows(drawing, &terminal->alternate, false, false);
		draw_tabs(drawing, &terminal->alternate);
		draw_saved(drawing, &terminal->alternate);
	}
	draw_region(drawing, terminal->grid);
}

/*
 * What belongs to the terminal.
 */

static void draw_title(struct bytes *bytes, const struct title *title, int number, int stack)
{
	for (uint32_t i = 0; i < title->depth; i++) {
		bytes_format(bytes, "\x1b]%d;", number);
		bytes_text(bytes, title->stack[i]);
		bytes_format(bytes, "\x1b\\\x1b[22;%dt", stack);
	}
	if (title->depth > 0 || title->now[0]) {
		bytes_format(bytes, "\x1b]%d;", number);
		bytes_text(bytes, title->now);
		bytes_text(bytes, "\x1b\\");
	}
}

/*
 * DECRC alone brings a set into use that is not designated: the shown screen's, or, of the main one, that of the alternate
 * screen that was left since. (What the alternate screen has from the main one cannot be told: there it is designated.)
 */
#define RESTORE "\x1b\x38\x1b[m\x1b[\"q"

static const char *restore_charset(const struct terminal *terminal)
{
	char charset = terminal->charset;
	if (charset == terminal->charsets[terminal->level])
		return "";
	if (charset == terminal->grid->saved.charset)
		return RESTORE;
	if (terminal->grid == &terminal->main && charset == terminal->alternate.saved.charset)
		return "\x1b[?1047h" RESTORE "\x1b[?1047l";
	return NULL;
}

static void draw_charsets(struct drawing *drawing)
{
	static const char *const shifts[CHARSETS] = {"", "\x0e", "\x1bn", "\x1bo"};
	const struct terminal *terminal = drawing->terminal;
	const char *restore = restore_charset(terminal);
	for (uint32_t i = 0; i < CHARSETS; i++) {
		char charset = !restore && i == terminal->level ? terminal->charset : terminal->charsets[i];
		if (charset)
			designate(drawing, i, charset);
	}
	bytes_text(drawing->bytes, shifts[terminal->level]);
	bytes_text(drawing->bytes, restore ? restore : "");
}

/* Modes whose rows are not written in turn: they change what drawing does. */
enum { MODES_LATE = MODE_ORIGIN | MODE_INSERT | MODE_NEWLINE | MODE_SYNCHRONIZED };

static void draw_mode(struct bytes *bytes, uint32_t modes, uint32_t which)
{
	for (const struct mode_row *row = mode_rows; row->mode; row++) {
		bool is_set = modes & row->mode, is_usual = is_set == (row->mode == MODE_WRAP);
		if ((row->mode & which) && (!is_usual || row->mode == MODE_CURSOR))
			bytes_format(bytes, "\x1b[%s%d%c", row->is_private ? "?" : "", row->number, is_set ? 'h' : 'l');
	}
}

static void draw_modes(struct drawing *drawing)
{
	const struct terminal *terminal = drawing->terminal;
	struct bytes *bytes = drawing->bytes;
	draw_mode(bytes, terminal->modes, ~(uint32_t)MODES_LATE);
	if (terminal->mouse_protocol)
		bytes_format(bytes, "\x1b[?%uh", terminal->mouse_protocol);
	if (terminal->mouse_encoding)
		bytes_format(bytes, "\x1b[?%uh", terminal->mouse_encoding);
	if (terminal->cursor_style)
		bytes_format(bytes, "\x1b[%u q", terminal->cursor_style);
	if (terminal->modify_keys)
		bytes_format(bytes, "\x1b[>4;%um", terminal->modify_keys);
	draw_mode(bytes, terminal->modes, MODE_NEWLINE);
	draw_mode(bytes, terminal->modes, MODE_ORIGIN); /* this moves the cursor */
	draw_mode(bytes, terminal->modes, MODE_SYNCHRONIZED);
}

/*
 * The cursor, last. Behind the last column it stands only after that column was written; and a combining character that
 * comes next must find the character that was just written. So that one is written again.
 */

static void go_to(struct drawing *drawing, int x)
{
	const struct grid *grid = drawing->terminal->grid;
	int y = drawing->terminal->modes & MODE_ORIGIN ? grid->y - grid->top : grid->y;
	move_to(drawing, x, y < 0 ? 0 : y);
}

static struct look look_of_pen(const struct terminal *terminal)
{
	const struct pen *pen = &terminal->pen;
	return look_from(pen->fg, pen->bg, &pen->decoration);
}

/* A colour of underlines is kept also while nothing is underlined. */
static void draw_pen(struct drawing *drawing)
{
	struct look look = look_of_pen(drawing->terminal);
	row_text_look(&drawing->text, &look);
	if (look.style == UNDERLINE_NONE)
		look_write_underline_colour(drawing->bytes, drawing->terminal->pen.decoration.colour);
}

/* True if the wide character before the last column was partly written over. */
static bool has_overhang(const struct row *row, int x, int columns)
{
	return x == columns && cell_width(&row->cells[x - 2]) == 2 && cell_width(&row->cells[x - 1]) > 0;
}

/* Where the character begins that stands before column X. */
static int character_before(const struct row *row, int x, int columns)
{
	const struct cell *cell = &row->cells[x - 1];
	if (has_overhang(row, x, columns))
		return x - 2;
	return x > 1 && cell_width(cell) == 0 && !cell_has_content(cell) ? x - 2 : x - 1;
}

static bool is_pen(const struct drawing *drawing)
{
	struct look look = look_of_pen(drawing->terminal);
	return look_is_equal(&drawing->text.now, &look);
}

/* Write the character again that stands before column X, from column AT on. */
static void draw_last_character(struct drawing *drawing, int at, int x)
{
	const struct terminal *terminal = drawing->terminal;
	const struct grid *grid = terminal->grid;
	const struct row *row = &grid->rows[grid->y];
	go_to(drawing, at);
	if (terminal->modes & MODE_INSERT)
		bytes_format(drawing->bytes, "\x1b[%dP\x1b[4h", x - at);
	if (terminal->join > 0)
		draw_pen(drawing);
	row_text_cell(&drawing->text, row, x, at);
	if (has_overhang(row, x, grid->columns))
		draw_mode(drawing->bytes, terminal->modes, MODE_WRAP);
	if (terminal->join == 0 || !is_pen(drawing))
		draw_pen(drawing);
	if (terminal->join == 0)
		bytes_text(drawing->bytes, "\x1b\\"); /* nothing joins with it */
	for (int i = grid->columns; i < grid->x && i < grid->columns + 16; i++)
		bytes_text(drawing->bytes, "\x1b\\\u200b");
}

static void draw_cursor(struct drawing *drawing)
{
	const struct terminal *terminal = drawing->terminal;
	const struct grid *grid = terminal->grid;
	const struct row *row = &grid->rows[grid->y];
	bool is_behind = grid->x >= grid->columns;
	int x = is_behind ? grid->columns : grid->x;
	int at = x > 0 ? character_before(row, x, grid->columns) : 0;
	/* A wide one that was partly written over cannot be written there. */
	if (x > 0 && (terminal->join > 0 || is_behind) && at + (int)cell_width(&row->cells[at]) <= x) {
		draw_last_character(drawing, at, x);
		return;
	}
	go_to(drawing, x);
	draw_mode(drawing->bytes, terminal->modes, MODE_INSERT);
	draw_pen(drawing);
}

static void draw(struct drawing *drawing, uint32_t scrollback)
{
	const struct terminal *terminal = drawing->terminal;
	bytes_text(drawing->bytes, TERMINAL_RESET "\x1b[20l");
	palette_write(terminal->palette, drawing->bytes);
	draw_title(drawing->bytes, &terminal->title, 2, 2);
	draw_title(drawing->bytes, &terminal->icon, 1, 1);
	draw_screens(drawing, scrollback);
	draw_charsets(drawing);
	draw_modes(drawing);
	draw_cursor(drawing);
}

/* What lines may take before they are drawn without some of their looks. A link or two make a small screen no plain one: that is
 * within TERMINAL_FIXED_BYTES. */
static size_t cell_bytes_most(const struct terminal *terminal)
{
	size_t cells = (size_t)terminal->main.columns * (size_t)terminal->main.count;
	size_t most = TERMINAL_CELL_BYTES * cells * (terminal->alternate.rows ? 2 : 1);
	return most > SMALL_SCREEN_BYTES ? most : SMALL_SCREEN_BYTES;
}

uint8_t *terminal_screen(const struct terminal *terminal, uint32_t scrollback, size_t *length)
{
	size_t most = cell_bytes_most(terminal);
	for (enum look_detail detail = LOOK_WHOLE;; detail = LOOK_PLAIN) {
		struct bytes bytes = {0};
		struct drawing drawing = {.terminal = terminal, .bytes = &bytes};
		drawing.text = (struct row_text){.terminal = terminal, .bytes = &bytes, .detail = detail};
		draw(&drawing, scrollback);
		if (drawing.cell_bytes <= most || detail == LOOK_PLAIN)
			return bytes_steal(&bytes, length);
		bytes_finish(&bytes);
	}
}

uint8_t *terminal_pending(const struct terminal *terminal, size_t *length)
{
	struct bytes bytes = {0};
	parser_write_pending(&terminal->parser, &bytes);
	return bytes_steal(&bytes, length);
}
