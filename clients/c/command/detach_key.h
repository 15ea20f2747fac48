/*
 * detach_key.h: the key that leaves a terminal, found in what is typed.
 *
 * Two forms: one control character ("^]", the default), which counts anywhere; or an escape as ssh has it ("~."),
 * which counts at the start of a line only, and where typing the first character twice sends it once. "none": no key.
 */
#ifndef SANDBAR_COMMAND_DETACH_KEY_H
#define SANDBAR_COMMAND_DETACH_KEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct detach_key {
	uint8_t first, second; /* second 0: a single control character; first 0: no key */
	bool at_line_start;    /* what was typed last ended a line */
	bool has_first;        /* the escape's first character is held back */
};

/* NULL, or what is allowed. */
const char *detach_key_parse(struct detach_key *key, const char *text);

/*
 * Pass what was typed to OUT, which has room for LENGTH + 1 bytes; returns how many bytes it got. When the key is met
 * *DETACH becomes true and what follows it is dropped.
 */
size_t detach_key_feed(struct detach_key *key, const uint8_t *typed, size_t length, uint8_t *out, bool *detach);

/* "^]", "~.": as the user would type it, into TEXT. */
void detach_key_name(const struct detach_key *key, char text[8]);

#endif
