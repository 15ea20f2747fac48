/*
 * parser.h: bytes to characters, control characters and sequences: the state machine of DEC's terminals
 * (https://vt100.net/emu/dec_ansi_parser), as a table (parser_table.c), with xterm.js's changes to it.
 *
 * UTF-8 is decoded first, as xterm.js does: what is malformed, and U+FEFF, is dropped; U+0080 to U+009F are C1 controls.
 * Whatever comes, memory is bounded, and no byte is looked at twice.
 */
#ifndef SANDBAR_TERMINAL_PARSER_H
#define SANDBAR_TERMINAL_PARSER_H

#include "bytes.h"
#include "params.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PARSER_STRING_BYTES = 8192 }; /* of an OSC's or DCS's text; a longer one is passed over */

enum parser_state {
	PARSER_GROUND,
	PARSER_ESCAPE,
	PARSER_ESCAPE_INTERMEDIATE,
	PARSER_CSI_ENTRY,
	PARSER_CSI_PARAM,
	PARSER_CSI_INTERMEDIATE,
	PARSER_CSI_IGNORE,
	PARSER_SOS_PM_APC,
	PARSER_OSC,
	PARSER_DCS_ENTRY,
	PARSER_DCS_PARAM,
	PARSER_DCS_IGNORE,
	PARSER_DCS_INTERMEDIATE,
	PARSER_DCS_PASS,
	PARSER_STATES
};

/*
 * A sequence's name: its prefix (<=>?), intermediates and final byte, in order, each in 8 bits: PARSER_ID('?', 0, 'h').
 * One with more of them than three has the name 0.
 */
#define PARSER_ID(prefix, intermediate, final) \
	((uint32_t)(prefix) << ((intermediate) ? 16 : 8) | (uint32_t)(intermediate) << 8 | (uint32_t)(final))

/* What the parser tells, in order. OWNER is who feeds it. */
struct parser_calls {
	void (*text)(void *owner, const uint8_t *text, size_t length); /* printable ASCII */
	void (*character)(void *owner, uint32_t character);            /* any other */
	void (*control)(void *owner, uint32_t control);                /* C0 and C1 */
	void (*escape)(void *owner, uint32_t id);
	void (*csi)(void *owner, uint32_t id, const struct params *params);
	/* NUMBER is -1 if there is none. TEXT is UTF-8, borrowed, with a 0 behind it. IS_BELL: it ended with BEL. */
	void (*osc)(void *owner, int32_t number, char *text, bool is_bell);
	void (*dcs)(void *owner, uint32_t id, const struct params *params, const char *text);
};

struct parser {
	enum parser_state state;
	uint32_t collected; /* prefix and intermediates */
	bool is_overlong;   /* there were more than three */
	struct params params;

	uint8_t partial[3]; /* the beginning of a character */
	uint32_t partial_length;

	int32_t number;      /* of an OSC: -1 before its first digit */
	bool in_text;        /* of an OSC: behind the semicolon */
	bool is_passed_over; /* the string is malformed or too long */
	uint32_t hook;       /* of a DCS: its id */
	struct bytes string;
};

void parser_init(struct parser *parser);
void parser_finish(struct parser *parser);
/* To the ground state; a beginning is forgotten. */
void parser_reset(struct parser *parser);
void parser_feed(struct parser *parser, const uint8_t *bytes, size_t length, const struct parser_calls *calls,
                 void *owner);
/* Append the bytes that bring a parser in the ground state to where this one is. */
void parser_write_pending(const struct parser *parser, struct bytes *bytes);

#endif
