#include "detach_key.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { ESCAPE = 0x1b, CONTROL_MASK = 0x1f, CONTROL_FIRST = 0x40, CONTROL_LAST = 0x5f };

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

static int leave_or(const struct detach_key *key, uint8_t typed)
{
	return typed == '.' || (!key->second && typed == key->first) ? DETACH_KEY_LEAVE : typed;
}

/* Behind the prefix: a command, but for the key itself, which `s`, or its doubling, sends. */
static size_t after_prefix(struct detach_key *key, uint8_t typed, uint8_t *out, int *command)
{
	bool sends = key->second ? typed == key->first : typed == 's';

	key->at_line_start = false;
	if (!sends) {
		*command = leave_or(key, typed);
		return 0;
	}
	out[0] = key->first;
	return 1;
}

/* Behind an escape's first character: it leaves, is the first character itself, or was none and both are passed. */
static size_t after_first(struct detach_key *key, uint8_t typed, uint8_t *out, int *command)
{
	size_t length = 0;

	key->at_line_start = false;
	if (typed == key->second) {
		*command = DETACH_KEY_LEAVE;
		return 0;
	}
	out[length++] = key->first;
	if (typed != key->first)
		out[length++] = typed;
	key->at_line_start = typed == '\r' || typed == '\n';
	return length;
}

static bool is_key(const struct detach_key *key, uint8_t typed)
{
	return key->first && typed == key->first && (!key->second || key->at_line_start);
}

static size_t one(struct detach_key *key, uint8_t typed, uint8_t *out, int *command)
{
	bool has_first = key->has_first;

	key->has_first = false;
	if (key->takes_next) {
		key->takes_next = false;
		*command = typed;
		return 0;
	}
	if (has_first)
		return key->is_prefix ? after_prefix(key, typed, out, command) : after_first(key, typed, out, command);
	if (is_key(key, typed)) {
		key->has_first = key->second || key->is_prefix;
		*command = key->is_prefix ? DETACH_KEY_PREFIX : key->second ? 0 : DETACH_KEY_LEAVE;
		return 0;
	}
	key->at_line_start = typed == '\r' || typed == '\n';
	out[0] = typed;
	return 1;
}

struct detach_key_result detach_key_feed(struct detach_key *key, const uint8_t *typed, size_t length, uint8_t *out)
{
	struct detach_key_result result = {0};

	while (result.taken < length && !result.command)
		result.passed += one(key, typed[result.taken++], out + result.passed, &result.command);
	if (result.command == ESCAPE)
		result.taken = length;
	return result;
}

void detach_key_name(const struct detach_key *key, char text[8])
{
	if (key->second && key->is_prefix)
		snprintf(text, 8, "%c", key->first);
	else if (key->second)
		snprintf(text, 8, "%c%c", key->first, key->second);
	else if (key->first)
		snprintf(text, 8, "^%c", key->first | CONTROL_FIRST);
	else
		snprintf(text, 8, "none");
}
