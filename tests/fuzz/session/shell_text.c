/*
 * What goes to a shell and what comes back. Input: a byte that says how it is cut, then a command, input for it, and the
 * message of a status. Pieces are whole lines that a pipe takes at once and that no locale and no history expansion can
 * read otherwise; a status points into its message, whatever the message is.
 */
#include "server/session/shell_text.h"

#include <assert.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static const char nonce[] = "0123456789abcdef";

static void check_piece(const char *piece, size_t length)
{
	assert(length > 0 && length <= PIPE_BUF && piece[length - 1] == '\n');
	for (size_t i = 0; i < length; i++)
		assert(piece[i] == '\n' || (piece[i] >= 0x20 && piece[i] < 0x7f && piece[i] != '!'));
}

static void write_command(const uint8_t *command, size_t length, const uint8_t *data, size_t data_length,
                          bool has_input)
{
	char piece[SHELL_PIECE_BYTES];
	struct shell_text text = {
		.command = (const char *)command, .command_length = length, .last_code = data_length % 256};
	memcpy(text.nonce, nonce, sizeof nonce);
	if (has_input) {
		text.input = data;
		text.input_length = data_length;
	}
	/* At worst each byte takes four, and a piece has room for more than 3,000. */
	size_t pieces = 0, most = 4 + (length + data_length) / 512;
	for (size_t written; (written = shell_text_next(&text, piece)) > 0; pieces++)
		check_piece(piece, written);
	assert(pieces > 0 && pieces <= most);
}

static void read_status(const uint8_t *bytes, size_t length)
{
	struct shell_status status;
	char *message = malloc(length + 1); /* of exactly this length, so that a read beyond it is found */
	assert(message);
	memcpy(message, bytes, length);
	if (shell_status_read(message, length, nonce, &status)) {
		assert(status.exit_code >= 0 && status.exit_code <= 255);
		assert(status.cwd >= message && status.cwd + status.cwd_length <= message + length);
	}
	free(message);
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
	static const uint8_t none[1];
	if (size < 2)
		return 0;
	const uint8_t *rest = input + 2;
	size_t left = size - 2, command = left * input[0] / 255;
	write_command(left > 0 ? rest : none, command, rest + command, left - command, input[1] & 1);
	read_status(rest + command, left - command);
	return 0;
}
