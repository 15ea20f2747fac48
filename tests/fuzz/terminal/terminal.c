/*
 * What a program may write to its terminal. Two bytes choose the size, a third where it is changed and where chunks end.
 * Chunks make no difference; a terminal that is drawn from another's screen shows the same, and says the same when it is
 * asked for its own; memory is bounded; no query is answered that was not live.
 */
#include "tests/unit/terminal/equal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MEMORY_MOST = 8 << 20 };

static void require(bool condition, const char *what)
{
	if (condition)
		return;
	fprintf(stderr, "%s\n", what);
	abort();
}

static void require_equal(const struct terminal *one, const struct terminal *other, const char *what)
{
	const char *difference = equal_difference(one, other);
	if (!difference)
		return;
	fprintf(stderr, "%s: %s\n", what, difference);
	abort();
}

static void feed_in_pieces(struct terminal *terminal, const uint8_t *data, size_t size, size_t piece)
{
	for (size_t at = 0; at < size; at += piece)
		terminal_feed(terminal, data + at, size - at < piece ? size - at : piece, NULL);
}

static void check_answers(const struct terminal_answers *answers)
{
	require(answers->length <= sizeof answers->bytes, "answers are bounded");
	for (size_t i = 0; i < answers->length; i++) {
		uint8_t byte = (uint8_t)answers->bytes[i];
		require((byte >= 0x20 && byte < 0x7f) || byte == 0x1b || byte == 0x07,
		        "answers hold no other control character");
	}
}

/* Drawn once, and drawn from that: the second must not differ from the first. What was wide and partly written over may. */
static void check_screen(const struct terminal *terminal)
{
	size_t length, cells = (size_t)(terminal->main.columns * terminal->main.count) * (terminal->alternate.rows ? 2 : 1);
	uint8_t *screen = terminal_screen(terminal, 0, &length);
	require(length <= TERMINAL_CELL_BYTES * cells + TERMINAL_FIXED_BYTES, "a screen is bounded");
	free(screen);
	CLEANUP_TERMINAL struct terminal *late = equal_late(terminal, TERMINAL_SCROLLBACK_LINES);
	CLEANUP_TERMINAL struct terminal *later = equal_late(late, TERMINAL_SCROLLBACK_LINES);
	require_equal(late, later, "a screen of a screen");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 3)
		return 0;
	uint32_t columns = 2 + data[0] % 90, rows = 1 + data[1] % 30;
	size_t piece = 1 + data[2] % 7;
	data += 3;
	size -= 3;
	CLEANUP_TERMINAL struct terminal *whole = terminal_create(columns, rows, 50);
	CLEANUP_TERMINAL struct terminal *pieces = terminal_create(columns, rows, 50);
	struct terminal_answers answers;
	terminal_feed(whole, data, size, &answers);
	check_answers(&answers);
	feed_in_pieces(pieces, data, size, piece);
	require_equal(whole, pieces, "in pieces");
	require(whole->scrollback.count == pieces->scrollback.count, "lines above");
	check_screen(whole);
	terminal_resize(pieces, rows + 1, columns);
	feed_in_pieces(pieces, data, size, 64);
	check_screen(pieces);
	require(terminal_memory(pieces) < MEMORY_MOST, "memory is bounded");
	return 0;
}
