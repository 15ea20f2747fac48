/*
 * pen.h: the attributes that the next character is written with, as SGR, DECSCA and OSC 8 set them.
 */
#ifndef SANDBAR_TERMINAL_PEN_H
#define SANDBAR_TERMINAL_PEN_H

#include "bytes.h"
#include "cell.h"
#include "decoration.h"
#include "params.h"

struct pen {
	uint32_t fg, bg;              /* as in a cell, but for bg's BG_DECORATED, which may be set with nothing behind it */
	struct decoration decoration; /* style and colour of the underline, and the link */
	uint32_t number;              /* of decoration, 0 while it is not known */
};

/* SGR. */
void pen_select(struct pen *pen, const struct params *params);
void pen_protect(struct pen *pen, bool is_protected);
void pen_link(struct pen *pen, uint32_t link); /* 0: none */

/* A cell without text, with these attributes. */
struct cell pen_cell(struct pen *pen, struct decorations *decorations);
/* What erasing leaves: the background. */
struct cell pen_blank(const struct pen *pen);

/* How a cell looks, whatever way it came about: two that look the same are equal. */
struct look {
	uint32_t fg, bg; /* without BG_DECORATED, and FG_UNDERLINE only where style is set */
	uint32_t colour; /* of the underline */
	uint32_t style;  /* enum underline */
	uint32_t link;
};

/* DECORATION counts where BG says that there is one. */
struct look look_from(uint32_t fg, uint32_t bg, const struct decoration *decoration);
struct look look_of(const struct decorations *decorations, uint32_t fg, uint32_t bg, uint32_t number);
bool look_is_equal(const struct look *one, const struct look *other);

enum look_detail { LOOK_PLAIN, LOOK_WHOLE }; /* LOOK_PLAIN: without links, protection and the underline's colour */

/* Append what turns an emulator's pen from *NOW to TO; *NOW is TO then. LINKS are what TO's link is a number of. */
void look_write(struct bytes *bytes, struct look *now, const struct look *to, const struct decorations *links,
                enum look_detail detail);
/* Append an SGR of an underline's colour alone; nothing for 0. */
void look_write_underline_colour(struct bytes *bytes, uint32_t colour);
/* Append the numbers of an SGR that selects LOOK after a reset: "0;1;38;5;9". */
void look_write_numbers(struct bytes *bytes, const struct look *look, enum look_detail detail);

#endif
