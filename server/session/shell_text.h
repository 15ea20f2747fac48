/*
 * shell_text.h: what is written to a shell (shell.h) so that it runs a command and tells what came of it, and what it
 * tells. Nothing here does input or output.
 *
 * A shell is an interactive bash without a terminal that reads lines. Each piece is a whole number of lines and at most
 * PIPE_BUF bytes, which a pipe takes whole or not at all (pipe(7)): a gateway that dies leaves no half line, and the next
 * one goes on with its own. All is ASCII without `!`, in any locale and whatever history expansion is set to.
 *
 * The shell's own 0, 1 and 2 are its commands and /dev/null; 7, 8 and 9 are stdout, stderr and the status. A command runs in
 * `eval` with 0-2 put right and 7-9 closed: bash keeps copies for itself that are close-on-exec.
 */
#ifndef SANDBAR_SHELL_TEXT_H
#define SANDBAR_SHELL_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SHELL_PIECE_BYTES = 4096, SHELL_NONCE_BYTES = 16, SHELL_STATUS_BYTES = 8192 };

/* A command on its way; a value type. Pointers are borrowed. */
struct shell_text {
	const char *command; /* NULL: none, only its status is asked for */
	size_t command_length;
	const uint8_t *input; /* NULL: /dev/null */
	size_t input_length;
	int last_code; /* what `$?` shall be */
	char nonce[SHELL_NONCE_BYTES + 1];
	size_t command_at, input_at; /* taken so far */
	unsigned step;
};

/* The next piece; 0 bytes when there is none. */
size_t shell_text_next(struct shell_text *text, char piece[SHELL_PIECE_BYTES]);
/* The piece that only asks for the status of what ran before; as the last one of shell_text_next(). */
size_t shell_text_ask(const char nonce[SHELL_NONCE_BYTES + 1], char piece[SHELL_PIECE_BYTES]);
/* The piece that a new shell gets first. */
size_t shell_text_begin(char piece[SHELL_PIECE_BYTES]);

struct shell_status {
	int exit_code;
	const char *cwd; /* points into the message */
	size_t cwd_length;
};

/* Read a MESSAGE (without the NUL that ends it). It can begin with one that an interrupt cut off. False: it does not carry
 * NONCE, or is not whole. */
bool shell_status_read(const char *message, size_t length, const char nonce[SHELL_NONCE_BYTES + 1],
                       struct shell_status *status);

#endif
