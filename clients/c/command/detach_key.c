#include "detach_key.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { CONTROL_MASK = 0x1f, CONTROL_FIRST = 0x40, CONTROL_LAST = 0x5f };

const char *detach_key_parse(struct detach_key *key, const char *text)
{
	*key = (struct detach_key){.at_line_start = true};
	if (strcmp(text, "none") == 0)
		return NULL;
	if (strlen(text) != 2)
		return "allowed are ^X (a control character), two characters such as ~. (at the start of a line), or none";
	int control = toupper((unsigned char)text[1]);
	if (text[0] == '^') {
		key->first = (uint8_t)(control & CONTROL_MASK);
		return control > CONTROL_FIRST && control <= CONTROL_LAST ? NULL
		                                                          : "after ^ comes a letter, or one of [ \\ ] ^ _";
	}
	if (!isprint((unsigned char)text[0]) || !isprint((unsigned char)text[1]) || text[0] == text[1])
		return "the two characters of an escape must be printable and differ";
	key->first = (uint8_t)text[0];
	key->second = (uint8_t)text[1];
	return NULL;
}

/* The escape's second place: it detaches, is the first character itself, or was none and both are passed. */
static size_t after_first(struct detach_key *key, uint8_t typed, uint8_t *out, bool *detach)
{
	size_t length = 0;

	key->has_first = false;
	key->at_line_start = false;
	if (typed == key->second) {
		*detach = true;
		return 0;
	}
	out[length++] = key->first;
	if (typed != key->first)
		out[length++] = typed;
	key->at_line_start = typed == '\r' || typed == '\n';
	return length;
}

static size_t one(struct detach_key *key, uint8_t typed, uint8_t *out, bool *detach)
{
	if (key->has_first)
		return after_first(key, typed, out, detach);
	if (key->first && typed == key->first && (!key->second || key->at_line_start)) {
		*detach = !key->second;
		key->has_first = key->second != 0;
		return 0;
	}
	key->at_line_start = typed == '\r' || typed == '\n';
	out[0] = typed;
	return 1;
}

size_t detach_key_feed(struct detach_key *key, const uint8_t *typed, size_t length, uint8_t *out, bool *detach)
{
	size_t passed = 0;

	*detach = false;
	for (size_t i = 0; i < length && !*detach; i++)
		passed += one(key, typed[i], out + passed, detach);
	return passed;
}

void detach_key_name(const struct detach_key *key, char text[8])
{
	if (key->second)
		snprintf(text, 8, "%c%c", key->first, key->second);
	else if (key->first)
		snprintf(text, 8, "^%c", key->first | CONTROL_FIRST);
	else
		snprintf(text, 8, "none");
}
