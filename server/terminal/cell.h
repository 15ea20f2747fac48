/*
 * cell.h: one place of a screen, and the attributes of what is drawn there.
 *
 * A cell that nothing was written to since it was erased has no text. A wide character's second cell has no text and
 * width 0. A combining character that had nothing to combine with is a cell of width 0 with text.
 */
#ifndef SANDBAR_TERMINAL_CELL_H
#define SANDBAR_TERMINAL_CELL_H

#include <stdbool.h>
#include <stdint.h>

/* cell.text: a character, or with CELL_CLUSTER an index of clusters; and the width. */
#define CELL_TEXT UINT32_C(0x1fffff)
#define CELL_CLUSTER UINT32_C(0x200000)
#define CELL_CONTENT (CELL_TEXT | CELL_CLUSTER)
#define CELL_WIDTH_SHIFT 22

/* A colour: COLOUR_RGB | 0xrrggbb, COLOUR_256 | index, COLOUR_16 | index, or 0, the default. */
#define COLOUR_MASK UINT32_C(0x3ffffff)
#define COLOUR_KIND UINT32_C(0x3000000)
#define COLOUR_16 UINT32_C(0x1000000)
#define COLOUR_256 UINT32_C(0x2000000)
#define COLOUR_RGB UINT32_C(0x3000000)

/* Beside the colour in cell.fg... */
#define FG_INVERSE (UINT32_C(1) << 26)
#define FG_BOLD (UINT32_C(1) << 27)
#define FG_UNDERLINE (UINT32_C(1) << 28)
#define FG_BLINK (UINT32_C(1) << 29)
#define FG_INVISIBLE (UINT32_C(1) << 30)
#define FG_STRIKE (UINT32_C(1) << 31)
/* ...and in cell.bg. */
#define BG_ITALIC (UINT32_C(1) << 26)
#define BG_FAINT (UINT32_C(1) << 27)
#define BG_DECORATED (UINT32_C(1) << 28) /* cell.decoration says how it is underlined, and where it links to */
#define BG_PROTECTED (UINT32_C(1) << 29)
#define BG_OVERLINE (UINT32_C(1) << 30)

/* As in SGR 4:n. */
enum underline {
	UNDERLINE_NONE,
	UNDERLINE_SINGLE,
	UNDERLINE_DOUBLE,
	UNDERLINE_CURLY,
	UNDERLINE_DOTTED,
	UNDERLINE_DASHED
};

struct cell {
	uint32_t text, fg, bg;
	uint32_t decoration; /* index of decorations (decoration.h) */
};

#define CELL_BLANK ((struct cell){.text = 1u << CELL_WIDTH_SHIFT})

static inline uint32_t cell_width(const struct cell *cell)
{
	return cell->text >> CELL_WIDTH_SHIFT;
}

static inline bool cell_has_content(const struct cell *cell)
{
	return (cell->text & CELL_CONTENT) != 0;
}

#endif
