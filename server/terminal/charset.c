#include "state.h"

/* What a national set has in ASCII's place. */
struct replacement {
	char ascii;
	uint16_t character;
};

enum { REPLACEMENTS_MOST = 12 };

struct charset {
	char finals[3];
	struct replacement replacements[REPLACEMENTS_MOST];
};

/* clang-format off */
static const uint16_t line_drawing[] = { /* of ` to ~ */
	0x25c6, 0x2592, 0x2409, 0x240c, 0x240d, 0x240a, 0xb0, 0xb1, 0x2424, 0x240b, 0x2518, 0x2510, 0x250c, 0x2514, 0x253c, 0x23ba,
	0x23bb, 0x2500, 0x23bc, 0x23bd, 0x251c, 0x2524, 0x2534, 0x252c, 0x2502, 0x2264, 0x2265, 0x3c0, 0x2260, 0xa3, 0xb7,
};

static const struct charset charsets[] = {
	{"A", {{'#', 0xa3}}},
	{"4", {{'#', 0xa3}, {'@', 0xbe}, {'[', 'i'}, {'\\', 0xbd}, {']', '|'}, {'{', 0xa8}, {'|', 'f'}, {'}', 0xbc}, {'~', 0xb4}}},
	{"C5", {{'[', 0xc4}, {'\\', 0xd6}, {']', 0xc5}, {'^', 0xdc}, {'`', 0xe9}, {'{', 0xe4}, {'|', 0xf6}, {'}', 0xe5}, {'~', 0xfc}}},
	{"R", {{'#', 0xa3}, {'@', 0xe0}, {'[', 0xb0}, {'\\', 0xe7}, {']', 0xa7}, {'{', 0xe9}, {'|', 0xf9}, {'}', 0xe8}, {'~', 0xa8}}},
	{"Q", {{'@', 0xe0}, {'[', 0xe2}, {'\\', 0xe7}, {']', 0xea}, {'^', 0xee}, {'`', 0xf4}, {'{', 0xe9}, {'|', 0xf9}, {'}', 0xe8},
	       {'~', 0xfb}}},
	{"K", {{'@', 0xa7}, {'[', 0xc4}, {'\\', 0xd6}, {']', 0xdc}, {'{', 0xe4}, {'|', 0xf6}, {'}', 0xfc}, {'~', 0xdf}}},
	{"Y", {{'#', 0xa3}, {'@', 0xa7}, {'[', 0xb0}, {'\\', 0xe7}, {']', 0xe9}, {'`', 0xf9}, {'{', 0xe0}, {'|', 0xf2}, {'}', 0xe8},
	       {'~', 0xec}}},
	{"E6", {{'@', 0xc4}, {'[', 0xc6}, {'\\', 0xd8}, {']', 0xc5}, {'^', 0xdc}, {'`', 0xe4}, {'{', 0xe6}, {'|', 0xf8}, {'}', 0xe5},
	        {'~', 0xfc}}},
	{"Z", {{'#', 0xa3}, {'@', 0xa7}, {'[', 0xa1}, {'\\', 0xd1}, {']', 0xbf}, {'{', 0xb0}, {'|', 0xf1}, {'}', 0xe7}}},
	{"H7", {{'@', 0xc9}, {'[', 0xc4}, {'\\', 0xd6}, {']', 0xc5}, {'^', 0xdc}, {'`', 0xe9}, {'{', 0xe4}, {'|', 0xf6}, {'}', 0xe5},
	        {'~', 0xfc}}},
	{"=", {{'#', 0xf9}, {'@', 0xe0}, {'[', 0xe9}, {'\\', 0xe7}, {']', 0xea}, {'^', 0xee}, {'_', 0xe8}, {'`', 0xf4}, {'{', 0xe4},
	       {'|', 0xf6}, {'}', 0xfc}, {'~', 0xfb}}},
};
/* clang-format on */

static const struct charset *find(uint32_t final)
{
	for (size_t i = 0; i < sizeof charsets / sizeof charsets[0]; i++)
		for (const char *at = charsets[i].finals; *at; at++)
			if ((uint32_t)*at == final)
				return &charsets[i];
	return NULL;
}

char charset_by_final(uint32_t final)
{
	if (final == 'B')
		return 0;
	if (final == '0')
		return '0';
	const struct charset *charset = find(final);
	return charset ? charset->finals[0] : (char)-1;
}

uint32_t charset_map(char charset, uint32_t character)
{
	if (charset == '0')
		return character >= '`' && character <= '~' ? line_drawing[character - '`'] : character;
	const struct charset *set = find((uint32_t)charset);
	for (int i = 0; set && i < REPLACEMENTS_MOST && set->replacements[i].ascii; i++)
		if ((uint32_t)set->replacements[i].ascii == character)
			return set->replacements[i].character;
	return character;
}

void charset_shift(struct terminal *terminal, uint32_t level)
{
	terminal->level = level;
	terminal->charset = terminal->charsets[level];
}

void charset_designate(struct terminal *terminal, uint32_t level, char charset)
{
	terminal->charsets[level] = charset;
	if (terminal->level == level)
		terminal->charset = charset;
}
