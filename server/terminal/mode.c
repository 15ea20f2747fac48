/*
 * mode.c: modes (SM, RM, DECSET, DECRST) and resets.
 */
#include "mode.h"

#include <string.h>

/* clang-format off */
const struct mode_row mode_rows[] = {
	{4, false, MODE_INSERT},           {20, false, MODE_NEWLINE},
	{1, true, MODE_CURSOR_KEYS},       {5, true, MODE_INVERSE},        {6, true, MODE_ORIGIN},
	{7, true, MODE_WRAP},              {12, true, MODE_BLINK},         {25, true, MODE_CURSOR},
	{45, true, MODE_REVERSE_WRAP},     {66, true, MODE_KEYPAD},        {1004, true, MODE_FOCUS},
	{1005, true, MODE_MOUSE_UTF8},     {1007, true, MODE_SCROLL_KEYS}, {1015, true, MODE_MOUSE_URXVT},
	{2004, true, MODE_PASTE},          {2026, true, MODE_SYNCHRONIZED},
	{0, false, 0},
};
/* clang-format on */

/* What a reset, soft or full, does not touch. */
enum { MODES_KEPT = MODE_NEWLINE | MODE_BLINK | MODE_CURSOR };

void mode_restore_defaults(struct terminal *terminal)
{
	terminal->modes = (terminal->modes & MODES_KEPT) | MODE_WRAP;
	terminal->cursor_style = 0;
}

static void reset_charsets(struct terminal *terminal)
{
	memset(terminal->charsets, 0, sizeof terminal->charsets);
	terminal->level = 0;
	terminal->charset = 0;
}

static void reset_pen(struct terminal *terminal)
{
	terminal->pen = (struct pen){0};
}

void mode_soft_reset(struct terminal *terminal, const struct params *params)
{
	struct grid *grid = terminal->grid;
	(void)params;
	terminal->modes |= MODE_CURSOR;
	grid->top = 0;
	grid->bottom = grid->count - 1;
	reset_pen(terminal);
	mode_restore_defaults(terminal);
	reset_charsets(terminal);
	grid->saved = (struct saved_cursor){.line = grid->base};
}

void mode_full_reset(struct terminal *terminal)
{
	parser_reset(&terminal->parser);
	reset_pen(terminal);
	grid_reset(&terminal->main);
	grid_hide(&terminal->alternate);
	grid_reset(&terminal->alternate);
	terminal->grid = &terminal->main;
	scrollback_clear(&terminal->scrollback);
	reset_charsets(terminal);
	mode_restore_defaults(terminal);
	terminal->mouse_protocol = terminal->mouse_encoding = 0;
	terminal->modify_keys = 0;
}

static void show_alternate(struct terminal *terminal)
{
	if (terminal->grid == &terminal->alternate)
		return;
	grid_show(&terminal->alternate, pen_blank(&terminal->pen));
	terminal->alternate.x = terminal->main.x;
	terminal->alternate.y = terminal->main.y;
	terminal->grid = &terminal->alternate;
}

static void show_main(struct terminal *terminal)
{
	if (terminal->grid == &terminal->main)
		return;
	terminal->main.x = terminal->alternate.x;
	terminal->main.y = terminal->alternate.y;
	grid_hide(&terminal->alternate);
	terminal->grid = &terminal->main;
}

static void change_screen(struct terminal *terminal, int32_t number, bool is_set)
{
	if (is_set) {
		if (number == 1049)
			cursor_save(terminal);
		show_alternate(terminal);
	} else {
		show_main(terminal);
		if (number == 1049)
			cursor_restore(terminal);
	}
}

static void change_saved(struct terminal *terminal, int32_t number, bool is_set)
{
	(void)number;
	if (is_set)
		cursor_save(terminal);
	else
		cursor_restore(terminal);
}

static void change_mouse(struct terminal *terminal, int32_t number, bool is_set)
{
	terminal->mouse_protocol = is_set ? (uint32_t)number : 0;
}

static void change_mouse_encoding(struct terminal *terminal, int32_t number, bool is_set)
{
	terminal->mouse_encoding = is_set ? (uint32_t)number : 0;
}

static void change_ansi(struct terminal *terminal, int32_t number, bool is_set)
{
	(void)number;
	for (uint32_t i = 0; is_set && i < CHARSETS; i++)
		charset_designate(terminal, i, 0);
}

static void change_origin(struct terminal *terminal, int32_t number, bool is_set)
{
	(void)number;
	(void)is_set;
	cursor_set(terminal, 0, 0);
}

/* DEC's private modes that are more than a flag, or more beside it. */
struct change_row {
	int32_t number;
	void (*change)(struct terminal *terminal, int32_t number, bool is_set);
};

static const struct change_row change_rows[] = {
	{2, change_ansi},
	{6, change_origin},
	{9, change_mouse},
	{47, change_screen},
	{1000, change_mouse},
	{1002, change_mouse},
	{1003, change_mouse},
	{1006, change_mouse_encoding},
	{1016, change_mouse_encoding},
	{1047, change_screen},
	{1048, change_saved},
	{1049, change_screen},
};

static void change_flag(struct terminal *terminal, int32_t number, bool is_private, bool is_set)
{
	for (const struct mode_row *row = mode_rows; row->mode; row++)
		if (row->number == number && row->is_private == is_private)
			terminal->modes = is_set ? terminal->modes | row->mode : terminal->modes & ~row->mode;
}

static void change(struct terminal *terminal, const struct params *params, bool is_private, bool is_set)
{
	for (uint32_t i = 0; i < params->count; i++) {
		int32_t number = params->value[i];
		change_flag(terminal, number, is_private, is_set);
		for (size_t j = 0; is_private && j < sizeof change_rows / sizeof change_rows[0]; j++)
			if (change_rows[j].number == number)
				change_rows[j].change(terminal, number, is_set);
	}
}

void mode_set(struct terminal *terminal, const struct params *params)
{
	change(terminal, params, false, true);
}

void mode_reset(struct terminal *terminal, const struct params *params)
{
	change(terminal, params, false, false);
}

void mode_set_private(struct terminal *terminal, const struct params *params)
{
	change(terminal, params, true, true);
}

void mode_reset_private(struct terminal *terminal, const struct params *params)
{
	change(terminal, params, true, false);
}
