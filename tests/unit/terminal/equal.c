#include "equal.h"

#include "tests/terminal/look.h"

#include <stdlib.h>
#include <string.h>

static bool rows_are_equal(const struct terminal *one, const struct terminal *other, const struct grid *left,
                           const struct grid *right)
{
	for (int y = 0; y < left->count; y++)
		for (int x = 0; x < left->columns; x++) {
			struct looked here = look_at(one, &left->rows[y], x), there = look_at(other, &right->rows[y], x);
			here.look.link = here.look.link != 0; /* numbers of their own */
			there.look.link = there.look.link != 0;
			if (strcmp(here.text, there.text) != 0 || here.width != there.width ||
			    !look_is_equal(&here.look, &there.look))
				return false;
		}
	return true;
}

static bool saved_is_equal(const struct grid *left, const struct grid *right)
{
	const struct saved_cursor *one = &left->saved, *other = &right->saved;
	int last = left->columns - 1;
	int x = one->x < last ? one->x : last, other_x = other->x < last ? other->x : last;
	return x == other_x && grid_saved_row(left) == grid_saved_row(right) && one->fg == other->fg &&
	       ((one->bg ^ other->bg) & ~BG_DECORATED) == 0 && one->charset == other->charset;
}

static const char *grid_difference(const struct terminal *one, const struct terminal *other, const struct grid *left,
                                   const struct grid *right)
{
	if (left->columns != right->columns || left->count != right->count)
		return "size";
	if (!saved_is_equal(left, right))
		return "saved cursor";
	if (memcmp(left->tabs, right->tabs, (size_t)left->columns) != 0)
		return "tab stops";
	if (left->top != right->top || left->bottom != right->bottom)
		return "region";
	if ((left->rows == NULL) != (right->rows == NULL))
		return "screen shown";
	return left->rows && !rows_are_equal(one, other, left, right) ? "cells" : NULL;
}

static bool titles_are_equal(const struct title *one, const struct title *other)
{
	if (one->depth != other->depth || strcmp(one->now, other->now) != 0)
		return false;
	for (uint32_t i = 0; i < one->depth; i++)
		if (strcmp(one->stack[i], other->stack[i]) != 0)
			return false;
	return true;
}

static bool palettes_are_equal(const struct palette *one, const struct palette *other)
{
	static const struct palette none;
	return memcmp(one ? one : &none, other ? other : &none, sizeof none) == 0;
}

/* What a character behind the last column, or one that was dropped there, leaves is not told by a screen. */
static bool cursors_are_equal(const struct terminal *one, const struct terminal *other)
{
	const struct grid *left = one->grid, *right = other->grid;
	bool is_at_end = left->x >= left->columns - 1;
	bool is_outside = (one->modes & MODE_ORIGIN) && (left->y < left->top || left->y > left->bottom);
	int x = left->x > left->columns ? left->columns : left->x,
		other_x = right->x > right->columns ? right->columns : right->x;
	return x == other_x && (left->y == right->y || is_outside) && (one->join == other->join || is_at_end);
}

/* What the alternate screen has in use from the main one without being designated is designated instead (screen.c). */
static bool charsets_are_equal(const struct terminal *one, const struct terminal *other)
{
	bool is_told = one->grid == &one->main || one->charset == one->charsets[one->level];
	return one->charset == other->charset && one->level == other->level &&
	       (!is_told || memcmp(one->charsets, other->charsets, sizeof one->charsets) == 0);
}

static bool pens_are_equal(const struct terminal *one, const struct terminal *other)
{
	const struct pen *left = &one->pen, *right = &other->pen;
	uint32_t plain = COLOUR_MASK | FG_BOLD | FG_BLINK | FG_INVERSE | FG_INVISIBLE | FG_STRIKE;
	return ((left->fg ^ right->fg) & plain) == 0 && ((left->bg ^ right->bg) & ~BG_DECORATED) == 0 &&
	       left->decoration.colour == right->decoration.colour;
}

const char *equal_difference(const struct terminal *one, const struct terminal *other)
{
	if ((one->grid == &one->main) != (other->grid == &other->main))
		return "which screen";
	const char *difference = grid_difference(one, other, &one->main, &other->main);
	if (!difference)
		difference = grid_difference(one, other, &one->alternate, &other->alternate);
	if (difference)
		return difference;
	if (!cursors_are_equal(one, other))
		return "cursor";
	if (!pens_are_equal(one, other))
		return "pen";
	if (one->modes != other->modes || one->mouse_protocol != other->mouse_protocol ||
	    one->mouse_encoding != other->mouse_encoding || one->cursor_style != other->cursor_style ||
	    one->modify_keys != other->modify_keys)
		return "modes";
	if (!charsets_are_equal(one, other))
		return "character sets";
	if (!titles_are_equal(&one->title, &other->title) || !titles_are_equal(&one->icon, &other->icon))
		return "titles";
	return palettes_are_equal(one->palette, other->palette) ? NULL : "colours";
}

struct terminal *equal_late(const struct terminal *one, uint32_t scrollback)
{
	size_t length;
	struct terminal *late = terminal_create(terminal_columns(one), terminal_rows(one), one->scrollback.most);
	uint8_t *screen = terminal_screen(one, scrollback, &length);
	terminal_feed(late, screen, length, NULL);
	free(screen);
	uint8_t *pending = terminal_pending(one, &length);
	terminal_feed(late, pending, length, NULL);
	free(pending);
	return late;
}
