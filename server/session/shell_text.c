#include "shell_text.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

_Static_assert(SHELL_PIECE_BYTES <= PIPE_BUF, "a pipe takes a piece whole");

/* Room that the rest of a piece needs beside what is quoted: the longest of the texts below. */
enum { FRAME_BYTES = 512, QUOTED_BYTES = SHELL_PIECE_BYTES - FRAME_BYTES, ESCAPE_BYTES = 4 };

#define PLACES " >&7 2>&8 7>&- 8>&- 9>&-\n"

/* A backslash keeps an alias out, `builtin` a function of the same name. What these lines themselves say goes nowhere. It takes
 * an `eval` to tell, since a shell that has none (`enable -n eval`) runs no command either. */
static const char ask_format[] = "\\builtin eval '\\builtin printf \"%%s %%d \" %s \"$?\" >&9;\\builtin pwd >&9;"
								 "\\builtin printf \"\\0\" >&9'\n";

/* What a gateway gathered that died before it came to run it. */
#define FORGET "\\builtin unset -v _sandbar_command _sandbar_input;"

size_t shell_text_ask(const char nonce[SHELL_NONCE_BYTES + 1], char piece[SHELL_PIECE_BYTES])
{
	return (size_t)snprintf(piece, SHELL_PIECE_BYTES, ask_format, nonce);
}

size_t shell_text_begin(char piece[SHELL_PIECE_BYTES])
{
	return (size_t)snprintf(piece, SHELL_PIECE_BYTES,
	                        "exec 2>/dev/null; \\builtin set +H +o history; "
	                        "\\builtin shopt -s execfail; \\builtin unset -v HISTFILE MAILCHECK\n");
}

static bool is_plain(unsigned char c)
{
	return c >= 0x20 && c < 0x7f && !strchr("'\\!%", c);
}

/* Quote as many BYTES as fit into ROOM: octal escapes, as both $'…' and printf(1) read them. Returns how many were taken. */
static size_t quote(const void *bytes, size_t length, char *to, size_t room, size_t *used)
{
	const unsigned char *from = bytes;
	size_t taken = 0;
	*used = 0;
	for (; taken < length && *used + ESCAPE_BYTES < room; taken++) {
		if (is_plain(from[taken]))
			to[(*used)++] = (char)from[taken];
		else
			*used += (size_t)snprintf(to + *used, ESCAPE_BYTES + 1, "\\%03o", from[taken]);
	}
	to[*used] = '\0';
	return taken;
}

/* `$?` is what it was after the command before. */
static void write_prefix(int code, char prefix[64])
{
	prefix[0] = '\0';
	if (code != 0)
		snprintf(prefix, 64, "(\\builtin exit %d) || ", code);
}

/* STEPS: a command that fits goes in one piece; else it is gathered in a variable, and so is input. */
enum step { FIRST, COMMAND, INPUT, RUN, DONE };

static size_t write_short(struct shell_text *text, const char *quoted, char *piece)
{
	char prefix[64];
	write_prefix(text->last_code, prefix);
	int length = snprintf(piece, SHELL_PIECE_BYTES, FORGET "%s\\builtin eval $'%s' </dev/null" PLACES, prefix, quoted);
	text->step = DONE;
	return (size_t)length +
	       (size_t)snprintf(piece + length, (size_t)(SHELL_PIECE_BYTES - length), ask_format, text->nonce);
}

static size_t first(struct shell_text *text, char *piece)
{
	char quoted[QUOTED_BYTES];
	size_t used;
	if (!text->command) {
		text->step = DONE;
		return shell_text_ask(text->nonce, piece);
	}
	if (!text->input &&
	    quote(text->command, text->command_length, quoted, sizeof quoted, &used) == text->command_length)
		return write_short(text, quoted, piece);
	text->step = COMMAND;
	return (size_t)snprintf(piece, SHELL_PIECE_BYTES, "_sandbar_command= _sandbar_input=\n");
}

static size_t gather_command(struct shell_text *text, char *piece)
{
	char quoted[QUOTED_BYTES];
	size_t used;
	text->command_at += quote(text->command + text->command_at, text->command_length - text->command_at, quoted,
	                          sizeof quoted, &used);
	if (text->command_at == text->command_length)
		text->step = text->input ? INPUT : RUN;
	return (size_t)snprintf(piece, SHELL_PIECE_BYTES, "_sandbar_command+=$'%s'\n", quoted);
}

/* What printf makes bytes of: here the backslashes are its own, so that a NUL can be one of them. */
static size_t gather_input(struct shell_text *text, char *piece)
{
	char quoted[QUOTED_BYTES];
	size_t used;
	text->input_at += quote(text->input + text->input_at, text->input_length - text->input_at, quoted, sizeof quoted,
	                        &used);
	if (text->input_at == text->input_length)
		text->step = RUN;
	return (size_t)snprintf(piece, SHELL_PIECE_BYTES, "_sandbar_input+='%s'\n", quoted);
}

/* The variables are gone when the command runs: exported (`set -a`) they would be too large for what it executes. */
static size_t run(struct shell_text *text, char *piece)
{
	static const char unset[] = "\\\\builtin unset -v _sandbar_command _sandbar_input;";
	const char *input = text->input_length > 0 ? "< <(\\builtin printf -- \"$_sandbar_input\")" : "</dev/null";
	int length = snprintf(piece, SHELL_PIECE_BYTES, "\\builtin eval \"%s$_sandbar_command\" %s" PLACES, unset, input);
	text->step = DONE;
	return (size_t)length +
	       (size_t)snprintf(piece + length, (size_t)(SHELL_PIECE_BYTES - length), ask_format, text->nonce);
}

static size_t nothing(struct shell_text *text, char *piece)
{
	(void)text, (void)piece;
	return 0;
}

size_t shell_text_next(struct shell_text *text, char piece[SHELL_PIECE_BYTES])
{
	static size_t (*const steps[])(struct shell_text * text, char *piece) = {
		[FIRST] = first, [COMMAND] = gather_command, [INPUT] = gather_input, [RUN] = run, [DONE] = nothing};
	return steps[text->step](text, piece);
}

/* --- what it tells ---------------------------------------------------------------------------------------------- */

static const char *find_last(const char *message, size_t length, const char *nonce)
{
	for (size_t at = length; at-- > 0;)
		if (length - at > SHELL_NONCE_BYTES && memcmp(message + at, nonce, SHELL_NONCE_BYTES) == 0)
			return message + at;
	return NULL;
}

/* "NONCE CODE CWD\n" */
bool shell_status_read(const char *message, size_t length, const char nonce[SHELL_NONCE_BYTES + 1],
                       struct shell_status *status)
{
	const char *at = find_last(message, length, nonce), *end = message + length;
	if (!at || end[-1] != '\n' || at[SHELL_NONCE_BYTES] != ' ')
		return false;
	int code = 0, digits = 0;
	for (at += SHELL_NONCE_BYTES + 1; at < end && *at >= '0' && *at <= '9' && digits < 4; at++, digits++)
		code = code * 10 + (*at - '0');
	if (digits == 0 || code > 255 || at >= end || *at != ' ')
		return false;
	*status = (struct shell_status){.exit_code = code, .cwd = at + 1, .cwd_length = (size_t)(end - at) - 2};
	return end - at >= 2;
}
