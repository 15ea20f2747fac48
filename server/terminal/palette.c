/*
 * palette.c: the colours that a program sets or asks for: OSC 4, 10, 11, 12, and 104, 110, 111, 112, which take them back.
 */
#include "state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BASIC_COLOURS = 16, CUBE_END = 232 };

/* xterm's own. */
static const uint32_t basic[BASIC_COLOURS] = {0x000000, 0xcd0000, 0x00cd00, 0xcdcd00, 0x0000ee, 0xcd00cd,
                                              0x00cdcd, 0xe5e5e5, 0x7f7f7f, 0xff0000, 0x00ff00, 0xffff00,
                                              0x5c5cff, 0xff00ff, 0x00ffff, 0xffffff};
static const uint32_t special_defaults[SPECIAL_COLOURS] = {0xe5e5e5, 0x000000, 0xe5e5e5};

static uint32_t default_colour(uint32_t index)
{
	static const uint8_t levels[] = {0, 95, 135, 175, 215, 255};
	if (index < BASIC_COLOURS)
		return basic[index];
	if (index >= CUBE_END)
		return (8 + (index - CUBE_END) * 10) * 0x10101u;
	index -= BASIC_COLOURS;
	return (uint32_t)levels[index / 36] << 16 | (uint32_t)levels[index / 6 % 6] << 8 | levels[index % 6];
}

static struct palette *palette_of(struct terminal *terminal)
{
	if (!terminal->palette)
		terminal->palette = terminal_allocate(1, sizeof *terminal->palette);
	return terminal->palette;
}

static int hex_digit(char character)
{
	if (character >= '0' && character <= '9')
		return character - '0';
	character |= 0x20;
	return character >= 'a' && character <= 'f' ? character - 'a' + 10 : -1;
}

/* COUNT hexadecimal digits at TEXT, or -1. */
static int32_t hex(const char *text, size_t count)
{
	int32_t value = 0;
	for (size_t i = 0; i < count; i++) {
		int digit = hex_digit(text[i]);
		if (digit < 0)
			return -1;
		value = value * 16 + digit;
	}
	return value;
}

/* rgb:r/g/b, each with as many digits as the others, 1 to 4. */
static bool parse_rgb(const char *text, uint32_t *colour)
{
	size_t digits = strcspn(text, "/");
	if (digits < 1 || digits > 4 || strlen(text) != 3 * digits + 2 || text[2 * digits + 1] != '/')
		return false;
	int32_t most = (1 << 4 * digits) - 1;
	*colour = 0;
	for (size_t i = 0; i < 3; i++) {
		int32_t value = hex(text + i * (digits + 1), digits);
		if (value < 0)
			return false;
		*colour = *colour << 8 | (uint32_t)((value * 510 + most) / (2 * most));
	}
	return true;
}

/* #rgb, #rrggbb, and so on: the highest bits count. */
static bool parse_hash(const char *text, uint32_t *colour)
{
	size_t length = strlen(text), digits = length / 3;
	if (length != 3 * digits || digits < 1 || digits > 4)
		return false;
	*colour = 0;
	for (size_t i = 0; i < 3; i++) {
		int32_t value = hex(text + i * digits, digits);
		if (value < 0)
			return false;
		*colour = *colour << 8 | (uint32_t)(digits == 1 ? value << 4 : value >> 4 * (digits - 2));
	}
	return true;
}

static bool parse_colour(const char *text, uint32_t *colour)
{
	if (strncasecmp(text, "rgb:", 4) == 0)
		return parse_rgb(text + 4, colour);
	return text[0] == '#' && parse_hash(text + 1, colour);
}

/* An index of the palette, or -1. */
static int32_t parse_index(const char *text)
{
	size_t digits = strspn(text, "0123456789");
	if (digits == 0 || text[digits] || digits > 8)
		return -1;
	long index = strtol(text, NULL, 10);
	return index < PALETTE_COLOURS ? (int32_t)index : -1;
}

static uint32_t colour_or(uint32_t colour, uint32_t otherwise)
{
	return colour & COLOUR_SET ? colour & 0xffffff : otherwise;
}

static void change_index(struct terminal *terminal, int32_t index, const char *text, bool is_bell)
{
	uint32_t colour;
	char name[16];
	if (strcmp(text, "?") == 0) {
		colour = terminal->palette ? terminal->palette->colours[index] : 0;
		snprintf(name, sizeof name, "4;%d", index);
		answer_colour(terminal, name, colour_or(colour, default_colour((uint32_t)index)), is_bell);
	} else if (parse_colour(text, &colour)) {
		palette_of(terminal)->colours[index] = colour | COLOUR_SET;
	}
}

static void run_indexed(struct terminal *terminal, char *text, bool is_bell)
{
	char *rest = text;
	while (rest) {
		const char *name = strsep(&rest, ";");
		const char *colour = strsep(&rest, ";");
		if (!colour)
			break;
		int32_t index = parse_index(name);
		if (index >= 0)
			change_index(terminal, index, colour, is_bell);
	}
}

/* OSC 10 may go on with the next: foreground, background, cursor. */
static void run_special(struct terminal *terminal, uint32_t which, char *text, bool is_bell)
{
	char *rest = text;
	for (; rest && which < SPECIAL_COLOURS; which++) {
		const char *name = strsep(&rest, ";");
		uint32_t colour;
		char number[4];
		if (strcmp(name, "?") == 0) {
			colour = terminal->palette ? terminal->palette->special[which] : 0;
			snprintf(number, sizeof number, "%u", 10 + which);
			answer_colour(terminal, number, colour_or(colour, special_defaults[which]), is_bell);
		} else if (parse_colour(name, &colour)) {
			palette_of(terminal)->special[which] = colour | COLOUR_SET;
		}
	}
}

static void restore_indexed(struct palette *palette, char *text)
{
	if (!*text)
		memset(palette->colours, 0, sizeof palette->colours);
	for (char *rest = text; rest;) {
		int32_t index = parse_index(strsep(&rest, ";"));
		if (index >= 0)
			palette->colours[index] = 0;
	}
}

void palette_run(struct terminal *terminal, int32_t number, char *text, bool is_bell)
{
	if (number == 4)
		run_indexed(terminal, text, is_bell);
	else if (number < 100)
		run_special(terminal, (uint32_t)number - 10, text, is_bell);
	else if (!terminal->palette)
		return;
	else if (number == 104)
		restore_indexed(terminal->palette, text);
	else
		terminal->palette->special[number - 110] = 0;
}

static void write_colour(struct bytes *bytes, const char *name, uint32_t index, uint32_t colour)
{
	if (!(colour & COLOUR_SET))
		return;
	bytes_format(bytes, "\x1b]%s%u;rgb:%02x/%02x/%02x\x1b\\", name, index, colour >> 16 & 255, colour >> 8 & 255,
	             colour & 255);
}

void palette_write(const struct palette *palette, struct bytes *bytes)
{
	bytes_text(bytes, "\x1b]104\x1b\\\x1b]110\x1b\\\x1b]111\x1b\\\x1b]112\x1b\\");
	for (uint32_t i = 0; palette && i < PALETTE_COLOURS; i++)
		write_colour(bytes, "4;", i, palette->colours[i]);
	for (uint32_t i = 0; palette && i < SPECIAL_COLOURS; i++)
		write_colour(bytes, "", 10 + i, palette->special[i]);
}
