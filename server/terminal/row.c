#include "row.h"

#include <string.h>

static bool is_blank(struct cell cell)
{
	return cell.text == CELL_BLANK.text && cell.fg == 0 && cell.bg == 0 && cell.decoration == 0;
}

static void put_blank(struct row *row, int at, struct cell blank)
{
	row->cells[at] = blank;
	row_touch(row, at + 1);
}

void row_fill(struct row *row, int columns, struct cell blank)
{
	bool is_plain = is_blank(blank);
	int end = is_plain ? row->used : columns;
	for (int i = 0; i < end; i++)
		row->cells[i] = blank;
	row->used = is_plain ? 0 : columns;
}

void row_fill_unprotected(struct row *row, int columns, struct cell blank)
{
	for (int i = 0; i < columns; i++)
		if (!(row->cells[i].bg & BG_PROTECTED))
			row->cells[i] = blank;
	row->used = columns;
}

static bool is_head(const struct row *row, int at)
{
	return cell_width(&row->cells[at]) == 2;
}

void row_insert(struct row *row, int columns, int at, int count, struct cell blank)
{
	at %= columns;
	if (at > 0 && is_head(row, at - 1))
		put_blank(row, at - 1, blank);
	if (count > columns - at)
		count = columns - at;
	memmove(row->cells + at + count, row->cells + at, (size_t)(columns - at - count) * sizeof *row->cells);
	for (int i = at; i < at + count; i++)
		row->cells[i] = blank;
	if (is_head(row, columns - 1))
		put_blank(row, columns - 1, blank);
	row->used = columns;
}

void row_delete(struct row *row, int columns, int at, int count, struct cell blank)
{
	at %= columns;
	if (count > columns - at)
		count = columns - at;
	memmove(row->cells + at, row->cells + at + count, (size_t)(columns - at - count) * sizeof *row->cells);
	for (int i = columns - count; i < columns; i++)
		row->cells[i] = blank;
	if (at > 0 && is_head(row, at - 1))
		put_blank(row, at - 1, blank);
	if (cell_width(&row->cells[at]) == 0 && !cell_has_content(&row->cells[at]))
		put_blank(row, at, blank);
	row->used = columns;
}

void row_erase(struct row *row, int columns, int begin, int end, struct cell blank)
{
	if (begin > 0 && begin <= columns && is_head(row, begin - 1))
		put_blank(row, begin - 1, blank);
	if (end > 0 && end < columns && is_head(row, end - 1))
		put_blank(row, end, blank);
	if (end > columns)
		end = columns;
	bool is_plain = is_blank(blank);
	if (is_plain && end > row->used)
		end = row->used;
	for (int i = begin; i < end; i++)
		row->cells[i] = blank;
	if (is_plain && end == row->used && begin < end)
		row->used = begin;
	else if (!is_plain && begin < end)
		row_touch(row, end);
}

void row_erase_unprotected(struct row *row, int columns, int begin, int end, struct cell blank)
{
	if (begin > 0 && begin <= columns && is_head(row, begin - 1) && !(row->cells[begin - 1].bg & BG_PROTECTED))
		put_blank(row, begin - 1, blank);
	if (end > 0 && end < columns && is_head(row, end - 1) && !(row->cells[end].bg & BG_PROTECTED))
		put_blank(row, end, blank);
	if (end > columns)
		end = columns;
	for (int i = begin; i < end; i++)
		if (!(row->cells[i].bg & BG_PROTECTED))
			row->cells[i] = blank;
	if (begin < end)
		row_touch(row, end);
}
