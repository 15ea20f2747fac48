#include "pen.h"

#include <string.h>

struct look look_from(uint32_t fg, uint32_t bg, const struct decoration *decoration)
{
	static const struct decoration usual = {.style = UNDERLINE_SINGLE};
	struct look look = {.fg = fg & ~FG_UNDERLINE, .bg = bg & ~BG_DECORATED};
	if (!(bg & BG_DECORATED))
		decoration = &usual;
	if ((fg & FG_UNDERLINE) && decoration->style != UNDERLINE_NONE) {
		look.fg |= FG_UNDERLINE;
		look.style = decoration->style;
		look.colour = decoration->colour;
	}
	look.link = decoration->link;
	return look;
}

struct look look_of(const struct decorations *decorations, uint32_t fg, uint32_t bg, uint32_t number)
{
	struct decoration decoration = {0};
	if (bg & BG_DECORATED)
		decoration = decorations_at(decorations, number);
	return look_from(fg, bg, &decoration);
}

bool look_is_equal(const struct look *one, const struct look *other)
{
	return one->fg == other->fg && one->bg == other->bg && one->colour == other->colour && one->style == other->style &&
	       one->link == other->link;
}

/* Append these, each behind a separator: ";38;5;9". */
static void write_numbers(struct bytes *bytes, char separator, const uint32_t *numbers, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		bytes_put(bytes, &separator, 1);
		bytes_number(bytes, numbers[i]);
	}
}

/* Append the colour COLOUR as BASE (30 or 40) has it. */
static void write_colour(struct bytes *bytes, uint32_t colour, uint32_t base)
{
	uint32_t value = colour & ~COLOUR_KIND;
	switch (colour & COLOUR_KIND) {
	case COLOUR_16:
		write_numbers(bytes, ';', (uint32_t[]){value < 8 ? base + value : base + 60 + value - 8}, 1);
		break;
	case COLOUR_256:
		write_numbers(bytes, ';', (uint32_t[]){base + 8, 5, value}, 3);
		break;
	case COLOUR_RGB:
		write_numbers(bytes, ';', (uint32_t[]){base + 8, 2, value >> 16, value >> 8 & 255, value & 255}, 5);
		break;
	default:
		write_numbers(bytes, ';', (uint32_t[]){base + 9}, 1);
	}
}

static void write_underline_colour(struct bytes *bytes, uint32_t colour)
{
	uint32_t value = colour & ~COLOUR_KIND;
	if (!colour)
		return;
	bool is_rgb = (colour & COLOUR_KIND) == COLOUR_RGB;
	bytes_text(bytes, is_rgb ? ";58:2:" : ";58:5");
	if (is_rgb)
		write_numbers(bytes, ':', (uint32_t[]){value >> 16, value >> 8 & 255, value & 255}, 3);
	else
		write_numbers(bytes, ':', &value, 1);
}

/* The one before the first number. */
static void drop_separator(struct bytes *bytes, size_t begin)
{
	memmove(bytes->at + begin, bytes->at + begin + 1, bytes->length - begin - 1);
	bytes->length--;
}

struct look_flag {
	uint32_t fg, bg;
	const char *number;
};

static const struct look_flag look_flags[] = {
	{FG_BOLD, 0, ";1"},    {0, BG_FAINT, ";2"},     {0, BG_ITALIC, ";3"}, {FG_BLINK, 0, ";5"},
	{FG_INVERSE, 0, ";7"}, {FG_INVISIBLE, 0, ";8"}, {FG_STRIKE, 0, ";9"}, {0, BG_OVERLINE, ";53"},
};

static void write_underline(struct bytes *bytes, const struct look *look, enum look_detail detail)
{
	if (look->style == UNDERLINE_SINGLE)
		bytes_text(bytes, ";4");
	else if (look->style != UNDERLINE_NONE)
		bytes_format(bytes, ";4:%u", look->style);
	if (look->style != UNDERLINE_NONE && detail == LOOK_WHOLE)
		write_underline_colour(bytes, look->colour);
}

void look_write_underline_colour(struct bytes *bytes, uint32_t colour)
{
	if (!colour)
		return;
	bytes_text(bytes, "\x1b[");
	size_t begin = bytes->length;
	write_underline_colour(bytes, colour);
	drop_separator(bytes, begin);
	bytes_text(bytes, "m");
}

void look_write_numbers(struct bytes *bytes, const struct look *look, enum look_detail detail)
{
	bytes_text(bytes, "0");
	for (size_t i = 0; i < sizeof look_flags / sizeof look_flags[0]; i++)
		if ((look->fg & look_flags[i].fg) || (look->bg & look_flags[i].bg))
			bytes_text(bytes, look_flags[i].number);
	write_underline(bytes, look, detail);
	if (look->fg & COLOUR_MASK)
		write_colour(bytes, look->fg & COLOUR_MASK, 30);
	if (look->bg & COLOUR_MASK)
		write_colour(bytes, look->bg & COLOUR_MASK, 40);
}

static const uint32_t SGR_BG = COLOUR_MASK | BG_ITALIC | BG_FAINT | BG_OVERLINE;

static bool only_colours_differ(const struct look *one, const struct look *other)
{
	return ((one->fg ^ other->fg) & ~COLOUR_MASK) == 0 && ((one->bg ^ other->bg) & SGR_BG & ~COLOUR_MASK) == 0 &&
	       one->style == other->style && one->colour == other->colour;
}

static bool sgr_differs(const struct look *now, const struct look *to)
{
	return now->fg != to->fg || ((now->bg ^ to->bg) & SGR_BG) || now->style != to->style || now->colour != to->colour;
}

/* Of the colours alone where nothing else changes, else all from a reset on. */
static void write_sgr(struct bytes *bytes, const struct look *now, const struct look *to, enum look_detail detail)
{
	static const struct look plain;
	bytes_text(bytes, "\x1b[");
	size_t begin = bytes->length;
	if (!sgr_differs(&plain, to)) {
		/* SGR without numbers is the reset. */
	} else if (only_colours_differ(now, to)) {
		if ((now->fg ^ to->fg) & COLOUR_MASK)
			write_colour(bytes, to->fg & COLOUR_MASK, 30);
		if ((now->bg ^ to->bg) & COLOUR_MASK)
			write_colour(bytes, to->bg & COLOUR_MASK, 40);
		drop_separator(bytes, begin);
	} else {
		look_write_numbers(bytes, to, detail);
	}
	bytes_text(bytes, "m");
}

static void write_link(struct bytes *bytes, uint32_t link, const struct decorations *links)
{
	bytes_text(bytes, "\x1b]8;");
	if (link) {
		const struct link *target = decorations_link_at(links, link);
		if (target->id) {
			bytes_text(bytes, "id=");
			bytes_text(bytes, target->id);
		}
		bytes_text(bytes, ";");
		bytes_text(bytes, target->address);
	} else {
		bytes_text(bytes, ";");
	}
	bytes_text(bytes, "\x1b\\");
}

void look_write(struct bytes *bytes, struct look *now, const struct look *to, const struct decorations *links,
                enum look_detail detail)
{
	struct look wanted = *to;
	if (detail == LOOK_PLAIN) {
		wanted.link = wanted.colour = 0;
		wanted.bg &= ~BG_PROTECTED;
	}
	bool had_sgr = sgr_differs(now, &wanted);
	if (had_sgr)
		write_sgr(bytes, now, &wanted, detail);
	/* SGR 0 takes the protection away in some emulators (xterm.js), in others it does not. */
	bool is_protected = wanted.bg & BG_PROTECTED;
	if (is_protected != ((now->bg & BG_PROTECTED) != 0) || (is_protected && had_sgr))
		bytes_text(bytes, is_protected ? "\x1b[1\"q" : "\x1b[\"q");
	if (now->link != wanted.link)
		write_link(bytes, wanted.link, links);
	*now = wanted;
}
