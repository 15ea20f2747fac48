#include "pen.h"

static void update(struct pen *pen)
{
	if (pen->decoration.style != UNDERLINE_NONE || pen->decoration.link != 0)
		pen->bg |= BG_DECORATED;
	else
		pen->bg &= ~BG_DECORATED;
	pen->number = 0;
}

static void set_underline(struct pen *pen, int32_t style)
{
	if (style < 0 || style > UNDERLINE_DASHED)
		style = UNDERLINE_SINGLE;
	pen->decoration.style = (uint16_t)style;
	if (style == UNDERLINE_NONE)
		pen->fg &= ~FG_UNDERLINE;
	else
		pen->fg |= FG_UNDERLINE;
	update(pen);
}

static void reset(struct pen *pen)
{
	pen->fg = pen->bg = 0;
	pen->decoration.style = UNDERLINE_NONE;
	pen->decoration.colour = 0;
	update(pen);
}

static void set_colour(uint32_t *attributes, uint32_t colour)
{
	*attributes = (*attributes & ~COLOUR_MASK) | colour;
}

static void set_underline_colour(struct pen *pen, uint32_t colour)
{
	pen->decoration.colour = colour;
	pen->number = 0;
}

/* A flag of SGR: numbers that set, and that clear. */
struct flag_row {
	uint8_t number;
	bool is_set;
	uint32_t fg, bg;
};

static const struct flag_row flag_rows[] = {
	{1, true, FG_BOLD, 0},     {2, true, 0, BG_FAINT},     {3, true, 0, BG_ITALIC},     {5, true, FG_BLINK, 0},
	{7, true, FG_INVERSE, 0},  {8, true, FG_INVISIBLE, 0}, {9, true, FG_STRIKE, 0},     {22, false, FG_BOLD, BG_FAINT},
	{23, false, 0, BG_ITALIC}, {25, false, FG_BLINK, 0},   {27, false, FG_INVERSE, 0},  {28, false, FG_INVISIBLE, 0},
	{29, false, FG_STRIKE, 0}, {53, true, 0, BG_OVERLINE}, {55, false, 0, BG_OVERLINE},
};

static void set_flag(struct pen *pen, int32_t number)
{
	for (size_t i = 0; i < sizeof flag_rows / sizeof flag_rows[0]; i++) {
		const struct flag_row *row = &flag_rows[i];
		if (row->number != number)
			continue;
		pen->fg = row->is_set ? pen->fg | row->fg : pen->fg & ~row->fg;
		pen->bg = row->is_set ? pen->bg | row->bg : pen->bg & ~row->bg;
	}
}

/* Put the numbers of a colour in order: [38, kind, -, red or index, green, blue]. Returns how many further parameters it
 * took. They may stand behind semicolons or colons, or both, with or without a colour space. */
static uint32_t gather_colour(const struct params *params, uint32_t at, int32_t numbers[6])
{
	uint32_t taken = 0, space = 0;
	do {
		numbers[taken + space] = params_at(params, at + taken);
		uint32_t subs = params_sub_count(params, at + taken);
		if (subs > 0) {
			for (uint32_t i = 0; i < subs && (i == 0 || i + taken + 1 + space < 6); i++) {
				if (numbers[1] == 5)
					space = 1;
				if (taken + i + 1 + space < 6)
					numbers[taken + i + 1 + space] = params_sub(params, at + taken, i);
			}
			break;
		}
		if ((numbers[1] == 5 && taken + space >= 2) || (numbers[1] == 2 && taken + space >= 5))
			break;
		if (numbers[1])
			space = 1;
	} while (++taken + at < params->count && taken + space < 6);
	return taken;
}

static uint32_t select_colour(struct pen *pen, const struct params *params, uint32_t at)
{
	int32_t numbers[6] = {0, 0, -1, 0, 0, 0};
	uint32_t taken = gather_colour(params, at, numbers), colour;
	for (int i = 2; i < 6; i++)
		if (numbers[i] == -1)
			numbers[i] = 0;
	if (numbers[1] == 2)
		colour = COLOUR_RGB | ((uint32_t)numbers[3] & 255) << 16 | ((uint32_t)numbers[4] & 255) << 8 |
		         ((uint32_t)numbers[5] & 255);
	else if (numbers[1] == 5)
		colour = COLOUR_256 | ((uint32_t)numbers[3] & 255);
	else
		return taken;
	if (numbers[0] == 38)
		set_colour(&pen->fg, colour);
	else if (numbers[0] == 48)
		set_colour(&pen->bg, colour);
	else
		set_underline_colour(pen, colour);
	return taken;
}

/* Eight colours each from these numbers on. */
struct colour_row {
	uint8_t first;
	bool is_background, is_bright;
};

static const struct colour_row colour_rows[] = {
	{30, false, false}, {40, true, false}, {90, false, true}, {100, true, true}};

static bool set_basic_colour(struct pen *pen, int32_t number)
{
	for (size_t i = 0; i < sizeof colour_rows / sizeof colour_rows[0]; i++) {
		const struct colour_row *row = &colour_rows[i];
		if (number < row->first || number > row->first + 7)
			continue;
		uint32_t index = (uint32_t)(number - row->first) | (row->is_bright ? 8u : 0);
		set_colour(row->is_background ? &pen->bg : &pen->fg, COLOUR_16 | index);
		return true;
	}
	return false;
}

void pen_select(struct pen *pen, const struct params *params)
{
	for (uint32_t i = 0; i < params->count; i++) {
		int32_t number = params->value[i];
		/* clang-format off */
		switch (number) {
		case 0:  reset(pen); break;
		case 4:  set_underline(pen, params_sub_count(params, i) ? params_sub(params, i, 0) : UNDERLINE_SINGLE); break;
		case 21: set_underline(pen, UNDERLINE_DOUBLE); break;
		case 24: set_underline(pen, UNDERLINE_NONE); break;
		case 39: set_colour(&pen->fg, 0); break;
		case 49: set_colour(&pen->bg, 0); break;
		case 59: set_underline_colour(pen, 0); update(pen); break;
		case 38:
		case 48:
		case 58: i += select_colour(pen, params, i); break;
		default:
			if (!set_basic_colour(pen, number))
				set_flag(pen, number);
		}
		/* clang-format on */
	}
}

void pen_protect(struct pen *pen, bool is_protected)
{
	pen->bg = is_protected ? pen->bg | BG_PROTECTED : pen->bg & ~BG_PROTECTED;
}

void pen_link(struct pen *pen, uint32_t link)
{
	pen->decoration.link = (uint16_t)link;
	update(pen);
}

struct cell pen_cell(struct pen *pen, struct decorations *decorations)
{
	struct cell cell = {.text = CELL_BLANK.text, .fg = pen->fg, .bg = pen->bg};
	if (pen->bg & BG_DECORATED) {
		const struct decoration *decoration = &pen->decoration;
		bool is_empty = decoration->style == 0 && decoration->colour == 0 && decoration->link == 0;
		if (pen->number == 0 && !is_empty)
			pen->number = decorations_number(decorations, *decoration);
		cell.decoration = pen->number;
	}
	return cell;
}

struct cell pen_blank(const struct pen *pen)
{
	return (struct cell){.text = CELL_BLANK.text, .bg = pen->bg & COLOUR_MASK};
}
