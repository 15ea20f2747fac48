/*
 * row_text.c: a line of cells as bytes that draw it.
 */
#include "state.h"

#include "width.h"

#include <string.h>

void row_text_look(struct row_text *text, const struct look *look)
{
	look_write(text->bytes, &text->now, look, &text->terminal->decorations, text->detail);
}

static struct look look_of_cell(const struct row_text *text, const struct cell *cell)
{
	return look_of(&text->terminal->decorations, cell->fg, cell->bg, cell->decoration);
}

/* A cell that only shows its background can be erased; one that shows more (an underline, say) must be a space. */
static bool is_erasable(const struct cell *cell)
{
	return !cell_has_content(cell) && cell->fg == 0 && (cell->bg & ~COLOUR_MASK) == 0;
}

static bool is_head(const struct row *row, int columns, int at)
{
	return cell_width(&row->cells[at]) == 2 && at + 1 < columns && cell_width(&row->cells[at + 1]) == 0 &&
	       !cell_has_content(&row->cells[at + 1]);
}

/* How many cells from AT on look as erasing with one pen leaves them. */
static int erasable_length(const struct row *row, int columns, int at)
{
	int end = at;
	while (end < columns && is_erasable(&row->cells[end]) && row->cells[end].bg == row->cells[at].bg)
		end++;
	return end - at;
}

static void write_sequence(struct bytes *bytes, int number, char final)
{
	bytes_text(bytes, "\x1b[");
	bytes_number(bytes, (uint32_t)number);
	bytes_put(bytes, &final, 1);
}

static void write_blanks(struct row_text *text, const struct row *row, int columns, int at, int length)
{
	struct look look = {.bg = row->cells[at].bg, .link = text->now.link};
	bool is_rest = at + length == columns;
	if (look.bg != 0) {
		look.bg |= text->now.bg & BG_PROTECTED;
		row_text_look(text, &look);
		if (is_rest)
			bytes_text(text->bytes, "\x1b[K");
		else
			write_sequence(text->bytes, length, 'X');
	}
	if (!is_rest)
		write_sequence(text->bytes, length, 'C');
}

/* Returns true if emulators may not agree on how wide the cell is. */
static bool write_content(struct row_text *text, const struct cell *cell)
{
	char character[4];
	if (!cell_has_content(cell)) {
		bytes_text(text->bytes, " ");
		return false;
	}
	if (!(cell->text & CELL_CLUSTER)) {
		uint32_t code = cell->text & CELL_TEXT;
		bytes_put(text->bytes, character, utf8_encode(code, character));
		return code >= 0x300 && width_is_disputed(code);
	}
	const struct cluster *cluster = decorations_cluster_at(&text->terminal->decorations, cell->text & CELL_TEXT);
	size_t first;
	utf8_decode(cluster->text, &first);
	bytes_put(text->bytes, cluster->text, text->detail == LOOK_WHOLE ? cluster->length : first);
	return true;
}

/* A combining character that stands alone: what comes before it must not be a character that it joins with. */
static void write_orphan(struct row_text *text, const struct cell *cell)
{
	bytes_text(text->bytes, "\x1b\\");
	write_content(text, cell);
}

/* A wide character in a line that did not wrap, whose second half was written over: it is made the same way. */
static bool write_overhang(struct row_text *text, const struct row *row, int columns, int at)
{
	if (at != columns - 2 || text->detail == LOOK_PLAIN)
		return false;
	bytes_text(text->bytes, "\x1b[?7l");
	write_content(text, &row->cells[at]);
	struct look look = look_of_cell(text, &row->cells[at + 1]);
	row_text_look(text, &look);
	write_content(text, &row->cells[at + 1]);
	bytes_text(text->bytes, "\x1b[?7h");
	return true;
}

/* Returns how many columns were drawn. */
static int write_cell(struct row_text *text, const struct row *row, int columns, int at)
{
	const struct cell *cell = &row->cells[at];
	struct look look = look_of_cell(text, cell);
	int width = is_head(row, columns, at) ? 2 : 1;
	bool is_disputed;
	row_text_look(text, &look);
	if (cell_width(cell) == 0 && cell_has_content(cell) && text->detail == LOOK_WHOLE) {
		write_orphan(text, cell);
		is_disputed = true;
	} else if (cell_width(cell) != (uint32_t)width) {
		if (cell_width(cell) == 2 && write_overhang(text, row, columns, at))
			return 2;
		bytes_text(text->bytes, " ");
		is_disputed = false;
	} else {
		is_disputed = write_content(text, cell);
	}
	if (is_disputed && at + width < columns && text->detail == LOOK_WHOLE)
		write_sequence(text->bytes, at + width + 1, 'G');
	return width;
}

void row_text_cell(struct row_text *text, const struct row *row, int columns, int at)
{
	write_cell(text, row, columns, at);
}

/* The end of what must be drawn: what comes after it looks as a new line does. */
static int drawn_end(const struct row *row)
{
	int end = row->used;
	while (end > 0 && is_erasable(&row->cells[end - 1]) && row->cells[end - 1].bg == 0)
		end--;
	return end;
}

static bool is_plain(const struct cell *cell, const struct cell *like)
{
	uint32_t code = cell->text ^ 1u << CELL_WIDTH_SHIFT;
	return code >= 0x20 && code < 0x7f && cell->fg == like->fg && cell->bg == like->bg &&
	       cell->decoration == like->decoration;
}

/* ASCII that looks as the cell at AT, which was drawn: what most lines are made of. Returns where it ends. */
static int write_plain(struct row_text *text, const struct row *row, int at, int end)
{
	const struct cell *like = &row->cells[at++];
	uint8_t *room = bytes_room(text->bytes, (size_t)(end - at));
	int begin = at;
	for (; at < end && is_plain(&row->cells[at], like); at++)
		room[at - begin] = (uint8_t)row->cells[at].text;
	text->bytes->length += (size_t)(at - begin);
	return at;
}

/* Not what stands alone and combines; and not, in a terminal of two columns, a wide character that was partly written over: that is
 * made in a line that does not wrap, which none is gone on into. */
bool row_text_can_continue(const struct row *row)
{
	return cell_width(&row->cells[0]) == 1 || is_head(row, TERMINAL_COLUMNS_LEAST, 0);
}

void row_text_new_line(struct row_text *text)
{
	if (text->now.bg & COLOUR_MASK)
		row_text_look(text, &(struct look){.link = text->now.link});
	bytes_text(text->bytes, "\r\n");
}

/* The first cell of a line that goes on from the one above brings the cursor there, and if lines move up for that, the
 * new one comes in the pen's background. */
static int write_first(struct row_text *text, const struct row *row, int columns)
{
	int width = write_cell(text, row, columns, 0);
	if (text->now.bg & COLOUR_MASK && width < columns) {
		row_text_look(text, &(struct look){.link = text->now.link});
		bytes_text(text->bytes, "\x1b[K");
	}
	return width;
}

int row_text_write(struct row_text *text, const struct row *row, int columns, bool is_filled, bool continues)
{
	int end = is_filled ? columns : drawn_end(row);
	int at = continues ? write_first(text, row, columns) : 0, written = at;
	while (at < end) {
		int blanks = erasable_length(row, columns, at);
		if (blanks > 0 && is_filled && at + blanks == columns)
			blanks--;
		if (blanks > 0) {
			write_blanks(text, row, columns, at, blanks);
			at += blanks;
			continue;
		}
		if (is_plain(&row->cells[at], &row->cells[at])) {
			write_cell(text, row, columns, at);
			at = write_plain(text, row, at, end);
		} else {
			at += write_cell(text, row, columns, at);
		}
		written = at;
	}
	return written;
}
