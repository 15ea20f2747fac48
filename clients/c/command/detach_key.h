/*
 * detach_key.h: the key by which somebody speaks to this command and not to the program, found in what is typed.
 *
 * Two forms: one control character ("^]", the default), which counts anywhere; or an escape as ssh has it ("~."),
 * whose first character counts at the start of a line only, and is sent once when it is typed twice. "none": no key.
 *
 * Alone it leaves. As a prefix (`is_prefix`) the character behind it is a command: `d`, `.` or the control character again
 * leave, `s` sends the control character, other letters mean what the user of this module says.
 */
#ifndef SANDBAR_COMMAND_DETACH_KEY_H
#define SANDBAR_COMMAND_DETACH_KEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DETACH_KEY_LEAVE = 'd', DETACH_KEY_PREFIX = 1 /* the prefix was typed; a command will follow */ };

struct detach_key {
	uint8_t first, second; /* second 0: a single control character; first 0: no key */
	bool is_prefix;
	bool takes_next;    /* the next character is a command, whatever was typed before (an answer) */
	bool at_line_start; /* what was typed last ended a line */
	bool has_first;     /* the key, or the escape's first character, was typed: what comes next decides */
};

/* NULL, or what is allowed. */
const char *detach_key_parse(struct detach_key *key, const char *text);

struct detach_key_result {
	size_t taken;  /* of what was typed */
	size_t passed; /* what OUT got */
	int command;   /* a character, DETACH_KEY_…, or 0 */
};

/*
 * Read what was typed up to a command; what is for the program goes to OUT, which has room for LENGTH + 1 bytes. Without
 * a command all of it is taken. With ESC as the command everything is: it may begin a key that is longer than a character.
 */
struct detach_key_result detach_key_feed(struct detach_key *key, const uint8_t *typed, size_t length, uint8_t *out);

/* "^]", "~.": as the user would type it, into TEXT; of a prefix its beginning. */
void detach_key_name(const struct detach_key *key, char text[8]);

#endif
