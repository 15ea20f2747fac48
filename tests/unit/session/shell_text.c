/* What is written to a shell, given to a real bash; and what it tells, true and forged. */
#include "server/session/shell_text.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define NONCE "0123456789abcdef"

Test(shell_text, a_status_is_read)
{
	static const struct {
		const char *message;
		int code; /* -1: it is none */
		const char *cwd;
	} rows[] = {
		{NONCE " 0 /work\n", 0, "/work"},
		{NONCE " 255 /\n", 255, "/"},
		{NONCE " 7 /a b\nc\n", 7, "/a b\nc"},
		{NONCE " 1 \n", 1, ""},
		{"rubbish" NONCE " 1 /x\n", 1, "/x"},
		{NONCE " 1" NONCE " 130 /x\n", 130, "/x"}, /* an interrupt cut the first off */
		{NONCE " 256 /work\n", -1, NULL},
		{NONCE " -1 /work\n", -1, NULL},
		{NONCE " 12345 /work\n", -1, NULL},
		{NONCE " 0 /work", -1, NULL},
		{NONCE " 0\n", -1, NULL},
		{NONCE " \n", -1, NULL},
		{NONCE "0 /work\n", -1, NULL},
		{NONCE, -1, NULL},
		{"0123456789abcdeF 0 /work\n", -1, NULL}, /* forged */
		{"EXITCODESTART0EXITCODEEND\n", -1, NULL},
		{"\n", -1, NULL},
		{"", -1, NULL},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct shell_status status = {.exit_code = -1};
		bool is_read = shell_status_read(rows[i].message, strlen(rows[i].message), NONCE, &status);
		cr_expect_eq(is_read, rows[i].code >= 0, "row %zu", i);
		cr_expect_eq(status.exit_code, rows[i].code, "row %zu", i);
		if (is_read && rows[i].cwd)
			cr_expect(status.cwd_length == strlen(rows[i].cwd) &&
			              memcmp(status.cwd, rows[i].cwd, status.cwd_length) == 0,
			          "row %zu", i);
	}
}

/* Every piece is whole lines of ASCII that a pipe takes at once, whatever stands in the command. */
static void write_all(FILE *file, struct shell_text text)
{
	char piece[SHELL_PIECE_BYTES];
	size_t length;
	while ((length = shell_text_next(&text, piece)) > 0) {
		cr_assert_lt(length, sizeof piece);
		cr_expect_eq(piece[length - 1], '\n');
		for (size_t i = 0; i < length; i++)
			cr_assert((piece[i] >= ' ' && piece[i] <= '~' && piece[i] != '!') || piece[i] == '\n');
		cr_assert_eq(fwrite(piece, 1, length, file), length);
	}
}

/* Run what is written to PATH in a bash whose 0 and 7-9 are as a shell's; read what it wrote to 7 and 9. */
static void run_bash(const char *path, char *out, char *status, size_t size)
{
	char command[512];
	snprintf(command, sizeof command, "bash --norc --noprofile <%s 7>%s.out 8>/dev/null 9>%s.status", path, path, path);
	cr_assert_eq(system(command), 0);
	char *const texts[] = {out, status};
	for (int i = 0; i < 2; i++) {
		char name[512];
		snprintf(name, sizeof name, "%s.%s", path, i == 0 ? "out" : "status");
		FILE *file = fopen(name, "r");
		cr_assert_not_null(file);
		texts[i][fread(texts[i], 1, size - 1, file)] = '\0';
		fclose(file);
		unlink(name);
	}
}

Test(shell_text, what_is_written_arrives_in_a_bash)
{
	enum { LARGE = 100000, SIZE = 4 * LARGE };
	char *large = malloc(LARGE + 32), *out = malloc(SIZE), *expected = malloc(SIZE), status[256];
	uint8_t input[256 * 32];
	memset(large, 'a', LARGE);
	memcpy(large, "echo ", 5);
	large[LARGE] = '\0';
	memset(expected, 'a', LARGE);
	strcpy(expected + LARGE - 5, "\n");
	for (size_t i = 0; i < sizeof input; i++)
		input[i] = (uint8_t)i;
	const struct {
		const char *command, *out;
		const uint8_t *input;
		size_t input_length;
		int last_code, code;
	} rows[] = {
		{"echo $?; false", "0\n", NULL, 0, 0, 1},
		{"echo $?", "7\n", NULL, 0, 7, 0},
		{"printf '%s' 'it'\\''s \\ ! %d\t\xc3\xa9\n$x'", "it's \\ ! %d\t\xc3\xa9\n$x", NULL, 0, 0, 0},
		{"cat; exit_code=1\n# the end", "", NULL, 0, 0, 0},
		{"cat", "-n%d\n", (const uint8_t *)"-n%d\n", 5, 0, 0},
		{"cat", "", (const uint8_t *)"", 0, 0, 0},
		{"cksum | cut -d' ' -f2; echo \"$_sandbar_command$_sandbar_input\"", "8192\n\n", input, sizeof input, 0, 0},
		{large, expected, NULL, 0, 0, 0},
		{"", "", NULL, 0, 0, 0},
		{NULL, "", NULL, 0, 0, 0},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		char path[] = "/tmp/shell_text.XXXXXX";
		FILE *file = fdopen(mkstemp(path), "w");
		struct shell_text text = {.command = rows[i].command,
		                          .command_length = rows[i].command ? strlen(rows[i].command) : 0,
		                          .input = rows[i].input,
		                          .input_length = rows[i].input_length,
		                          .last_code = rows[i].last_code,
		                          .nonce = NONCE};
		write_all(file, text);
		fclose(file);
		run_bash(path, out, status, SIZE < sizeof status ? SIZE : sizeof status);
		unlink(path);
		struct shell_status told;
		cr_assert(shell_status_read(status, strlen(status), NONCE, &told), "row %zu: %s", i, status);
		cr_expect_eq(told.exit_code, rows[i].code, "row %zu", i);
		cr_expect(strncmp(out, rows[i].out, 255) == 0, "row %zu: %.60s", i, out);
	}
	free(large);
	free(out);
	free(expected);
}
