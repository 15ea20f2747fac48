/*
 * parser_table.h: what a character does in each state.
 */
#ifndef SANDBAR_TERMINAL_PARSER_TABLE_H
#define SANDBAR_TERMINAL_PARSER_TABLE_H

#include "parser.h"

enum parser_action {
	ACTION_IGNORE,
	ACTION_PRINT,
	ACTION_EXECUTE,
	ACTION_CLEAR,
	ACTION_COLLECT,
	ACTION_PARAM,
	ACTION_ESCAPE,
	ACTION_CSI,
	ACTION_OSC_START,
	ACTION_OSC_PUT,
	ACTION_OSC_END,
	ACTION_HOOK,
	ACTION_PUT,
	ACTION_UNHOOK,
	PARSER_ACTIONS
};

struct parser_step {
	uint8_t action, next;
};

enum { PARSER_OTHER = 0xa0, PARSER_CLASSES }; /* the class of every character from U+00A0 on */

/* Steps by state and class. */
extern struct parser_step parser_table[PARSER_STATES][PARSER_CLASSES];

/* Fill it in; after the first time nothing. */
void parser_table_make(void);

#endif
