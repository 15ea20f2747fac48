/*
 * answer.c: what a terminal says of itself when a program asks. Nothing a program wrote is ever said back to it
 * as if it were typed: no title, no text.
 */
#include "mode.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void answer(struct terminal *terminal, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Whole, or not at all. */
static void answer(struct terminal *terminal, const char *format, ...)
{
	struct terminal_answers *answers = terminal->answers;
	if (!answers)
		return;
	size_t room = sizeof answers->bytes - answers->length;
	va_list arguments;
	va_start(arguments, format);
	int length = vsnprintf(answers->bytes + answers->length, room, format, arguments);
	va_end(arguments);
	if (length < 0 || (size_t)length >= room)
		answers->dropped++;
	else
		answers->length += (size_t)length;
}

/* DA: a VT100 with the advanced video option, as xterm.js says. */
void answer_attributes(struct terminal *terminal, const struct params *params)
{
	if (params_at(params, 0) == 0)
		answer(terminal, "\x1b[?1;2c");
}

void answer_attributes_second(struct terminal *terminal, const struct params *params)
{
	if (params_at(params, 0) == 0)
		answer(terminal, "\x1b[>0;276;0c");
}

void answer_attributes_third(struct terminal *terminal, const struct params *params)
{
	if (params_at(params, 0) == 0)
		answer(terminal, "\x1bP!|00000000\x1b\\");
}

static void answer_position(struct terminal *terminal, const char *prefix)
{
	const struct grid *grid = terminal->grid;
	int x = grid->x < grid->columns ? grid->x : grid->columns - 1;
	answer(terminal, "\x1b[%s%d;%dR", prefix, grid->y + 1, x + 1);
}

void answer_status(struct terminal *terminal, const struct params *params)
{
	if (params_at(params, 0) == 5)
		answer(terminal, "\x1b[0n");
	else if (params_at(params, 0) == 6)
		answer_position(terminal, "");
}

void answer_status_private(struct terminal *terminal, const struct params *params)
{
	if (params_at(params, 0) == 6)
		answer_position(terminal, "?");
}

void answer_version(struct terminal *terminal, const struct params *params)
{
	if (params_at(params, 0) == 0)
		answer(terminal, "\x1bP>|sandbar(" SANDBAR_VERSION ")\x1b\\");
}

enum mode_state { STATE_UNKNOWN, STATE_SET, STATE_RESET, STATE_ALWAYS_SET, STATE_ALWAYS_RESET };

/* Modes that are no flag, or never change. */
struct state_row {
	int32_t number;
	bool is_private;
	enum mode_state state;
};

static const struct state_row state_rows[] = {
	{2, false, STATE_ALWAYS_RESET}, {12, false, STATE_ALWAYS_SET}, {8, true, STATE_ALWAYS_SET},
	{67, true, STATE_ALWAYS_RESET}, {1048, true, STATE_SET},       {0, false, STATE_UNKNOWN},
};

static enum mode_state state_if(bool is_set)
{
	return is_set ? STATE_SET : STATE_RESET;
}

static enum mode_state private_state(const struct terminal *terminal, int32_t number)
{
	switch (number) {
	case 9:
	case 1000:
	case 1002:
	case 1003:
		return state_if(terminal->mouse_protocol == (uint32_t)number);
	case 1006:
	case 1016:
		return state_if(terminal->mouse_encoding == (uint32_t)number);
	case 47:
	case 1047:
	case 1049:
		return state_if(terminal->grid == &terminal->alternate);
	default:
		return STATE_UNKNOWN;
	}
}

static enum mode_state state_of(const struct terminal *terminal, int32_t number, bool is_private)
{
	for (const struct mode_row *row = mode_rows; row->mode; row++)
		if (row->number == number && row->is_private == is_private)
			return state_if(terminal->modes & row->mode);
	for (const struct state_row *row = state_rows; row->state; row++)
		if (row->number == number && row->is_private == is_private)
			return row->state;
	return is_private ? private_state(terminal, number) : STATE_UNKNOWN;
}

void answer_mode(struct terminal *terminal, const struct params *params)
{
	int32_t number = params_at(params, 0);
	answer(terminal, "\x1b[%d;%d$y", number, state_of(terminal, number, false));
}

void answer_mode_private(struct terminal *terminal, const struct params *params)
{
	int32_t number = params_at(params, 0);
	answer(terminal, "\x1b[?%d;%d$y", number, state_of(terminal, number, true));
}

/* Sizes in characters. In pixels nobody here knows them, and titles are not told. */
void answer_window(struct terminal *terminal, const struct params *params)
{
	int32_t operation = params_at(params, 0);
	if (operation == 18 || operation == 19)
		answer(terminal, "\x1b[%d;%d;%dt", operation - 10, terminal->grid->count, terminal->grid->columns);
}

static void answer_graphics(struct terminal *terminal)
{
	struct bytes numbers = {0};
	const struct pen *pen = &terminal->pen;
	struct look look = look_from(pen->fg, pen->bg, &pen->decoration);
	look_write_numbers(&numbers, &look, LOOK_WHOLE);
	answer(terminal, "\x1bP1$r%.*sm\x1b\\", (int)numbers.length, (const char *)numbers.at);
	bytes_finish(&numbers);
}

/* DECRQSS. */
void answer_status_string(struct terminal *terminal, const char *text)
{
	const struct grid *grid = terminal->grid;
	if (strcmp(text, "m") == 0)
		answer_graphics(terminal);
	else if (strcmp(text, "r") == 0)
		answer(terminal, "\x1bP1$r%d;%dr\x1b\\", grid->top + 1, grid->bottom + 1);
	else if (strcmp(text, " q") == 0)
		answer(terminal, "\x1bP1$r%u q\x1b\\", terminal->cursor_style ? terminal->cursor_style : 2);
	else if (strcmp(text, "\"q") == 0)
		answer(terminal, "\x1bP1$r%d\"q\x1b\\", terminal->pen.bg & BG_PROTECTED ? 1 : 0);
	else if (strcmp(text, "\"p") == 0)
		answer(terminal, "\x1bP1$r61;1\"p\x1b\\");
	else
		answer(terminal, "\x1bP0$r\x1b\\");
}

/* XTGETTCAP: there is no such capability. */
void answer_capability(struct terminal *terminal)
{
	answer(terminal, "\x1bP0+r\x1b\\");
}

/* Ended as the question was. */
void answer_colour(struct terminal *terminal, const char *name, uint32_t rgb, bool is_bell)
{
	uint32_t red = rgb >> 16 & 255, green = rgb >> 8 & 255, blue = rgb & 255;
	answer(terminal, "\x1b]%s;rgb:%04x/%04x/%04x%s", name, red * 0x101, green * 0x101, blue * 0x101,
	       is_bell ? "\a" : "\x1b\\");
}
