#include "equal.h"
#include "story.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is set once, long ago, and what a late viewer must have all the same. */
static const char *const states[] = {
	"text \x1b[31mred\x1b[0m 漢字 e\xcc\x81",
	"\x1b[?1h\x1b[?25l\x1b[?1000h\x1b[?1002h\x1b[?1006h\x1b[?2004h\x1b[?1004h\x1b[?2026h\x1b[?5h\x1b=\x1b[4h\x1b["
	"20h\x1b[?45h",
	"\x1b[?7l0123456789",
	"\x1b[2;3r\x1b[?6h\x1b[2;2H",
	"\x1b(0\x1b)A\x0eq",
	"\x1b)A\x0e\x1b[?1047h\x1b\x37\x1b%G\x1b\x38\x1b[?1047l",
	"\x1b]0;title\x07\x1b[22t\x1b]2;another\x07",
	"\x1b[5 q\x1b[>4;2m\x1b[?1015h",
	"\x1b[3g\x1b[3G\x1bH\x1b[7G\x1bH",
	"\x1b[3;4H\x1b[1;32m\x1b"
	"7\x1b[H\x1b[m",
	"\x1b]4;1;#123456;200;rgb:1/2/3\x07\x1b]11;#ffffff\x07",
	"\x1b[4:3;58:2::1:2:3mcurly\x1b]8;id=a;http://x/\x1b\\link",
	"\x1b[58:5:9m",
	"\x1b[41m\x1b[2J\x1b[2;2Hx\x1b[44m\x1b[K",
	"\x1b[1\"qprotected",
	"main\x1b[2;2H\x1b[33m\x1b[?1049h\x1b[Halt\x1b[2;4r\x1b[3;3H\x1b"
	"7",
	"\x1b[?1047h\x1b[2;2H\x1b"
	"7\x1b[?1047l",
	"0123456789",
	"01234567漢",
	"ab\xcc\x81",
	"1\r\n2\r\n3\r\n4\r\n5\r\n0123456789abc\r\n7\r\n8\r\n9",
	"\x1b[31\x1b[38;5",
};

Test(screen, a_late_viewer_sees_the_same)
{
	for (size_t i = 0; i < sizeof states / sizeof states[0]; i++) {
		CLEANUP_TERMINAL struct terminal *terminal = story_terminal(10, 4, states[i]);
		CLEANUP_TERMINAL struct terminal *late = equal_late(terminal, TERMINAL_SCROLLBACK_LINES);
		const char *difference = equal_difference(terminal, late);
		cr_expect_null(difference, "%s: %s", states[i], difference);
		cr_expect_eq(terminal->scrollback.count, late->scrollback.count, "%s: lines above", states[i]);
	}
}

/* One that has drawn something else is as good as new. */
Test(screen, it_draws_over_whatever_was_there)
{
	for (size_t i = 0; i + 1 < sizeof states / sizeof states[0]; i++) {
		CLEANUP_TERMINAL struct terminal *terminal = story_terminal(10, 4, states[i + 1]);
		CLEANUP_TERMINAL struct terminal *other = story_terminal(10, 4, states[i]);
		size_t length;
		story_feed(other, "\x18\x1b[r\x1b[23t");
		title_set(&other->title, "");
		title_set(&other->icon, "");
		uint8_t *screen = terminal_screen(terminal, TERMINAL_SCROLLBACK_LINES, &length);
		terminal_feed(other, screen, length, NULL);
		free(screen);
		const char *difference = equal_difference(terminal, other);
		cr_expect_null(difference, "%s over %s: %s", states[i + 1], states[i], difference);
	}
}

Test(screen, only_the_newest_lines_above_are_told)
{
	CLEANUP_TERMINAL struct terminal *terminal = story_terminal(10, 4, "");
	for (int i = 0; i < 100; i++)
		story_feed(terminal, "line\r\n");
	CLEANUP_TERMINAL struct terminal *late = equal_late(terminal, 7);
	cr_assert_eq(late->scrollback.count, 7);
	CLEANUP_TERMINAL struct terminal *none = equal_late(terminal, 0);
	cr_assert_eq(none->scrollback.count, 0);
	cr_assert_null(equal_difference(terminal, none));
}

/* A wide character that was partly written over is possible in the last column alone. */
Test(screen, a_wider_screen_has_no_half_characters)
{
	CLEANUP_TERMINAL struct terminal *terminal = story_terminal(7, 4, "\x1b[?7l\x1b[6G漢│");
	terminal_resize(terminal, 10, 4);
	CLEANUP_TERMINAL struct terminal *late = equal_late(terminal, 0);
	cr_assert_null(equal_difference(terminal, late));
}

/* In two columns it begins a line, which may have gone on from the one above. */
Test(screen, a_half_character_that_a_line_went_on_with)
{
	CLEANUP_TERMINAL struct terminal *terminal = story_terminal(2, 2, "!漢字\x1b[?7l漢");
	CLEANUP_TERMINAL struct terminal *late = equal_late(terminal, TERMINAL_SCROLLBACK_LINES);
	cr_assert_null(equal_difference(terminal, late));
}

/* What is drawn again for the cursor opens its link again: that must not be what is too much. */
Test(screen, a_small_screen_keeps_its_links)
{
	CLEANUP_TERMINAL struct terminal *terminal = story_terminal(
		2, 1, "\x1b]8;;http://example.org/a/link/of/seventy/bytes/that/fits/once/not/twice\x1b\\ab");
	CLEANUP_TERMINAL struct terminal *late = equal_late(terminal, 0);
	CLEANUP_TERMINAL struct terminal *later = equal_late(late, 0);
	cr_assert_null(equal_difference(terminal, late));
	cr_assert_null(equal_difference(late, later));
}

/* Lines that were kept are laid out for the new width, as they were wrapped or not. */
Test(screen, lines_above_fit_another_width)
{
	CLEANUP_TERMINAL struct terminal *terminal = story_terminal(10, 2, "0123456789abcdef\r\nx\r\ny\r\n");
	terminal_resize(terminal, 20, 2);
	CLEANUP_TERMINAL struct terminal *late = equal_late(terminal, TERMINAL_SCROLLBACK_LINES);
	const struct scrollback_line *first = scrollback_at(&late->scrollback, late->scrollback.count - 1);
	cr_assert_eq(first->columns, 16);
}

static void write_worst(struct terminal *terminal, int columns, int rows)
{
	char text[640];
	unsigned int n = 0;
	for (int y = 1; y <= rows; y++)
		for (int x = 1; x <= columns; x++) {
			n = n * 1103515245u + 12345u;
			snprintf(text, sizeof text,
			         "\x1b[%d;%dH\x1b]8;;http://example.org/%u/"
			         "%0200u\x1b\\\x1b[0;1;2;3;5;7;8;9;53;4:%u;38;2;%u;%u;%u;48;2;%u;%u;%u;"
			         "58:2::%u:1:1m\x1b[1\"q\xe2\x82\xac\xcc\x81\xcc\x82\xcc\x83",
			         y, x, n, n, 2 + n % 4, 100 + n % 100, 100 + n / 7 % 100, 200, 100 + n / 3 % 100, 200,
			         100 + n / 5 % 100, n % 256);
			story_feed(terminal, text);
		}
}

/* However a program draws, a screen is not larger than 64 bytes a cell, and shows the text and its colours. */
Test(screen, the_worst_is_bounded)
{
	CLEANUP_TERMINAL struct terminal *terminal = story_terminal(80, 24, "");
	write_worst(terminal, 80, 24);
	story_feed(terminal, "\x1b[?1049h");
	write_worst(terminal, 80, 24);
	size_t length;
	uint8_t *screen = terminal_screen(terminal, 0, &length);
	cr_assert_leq(length, (size_t)TERMINAL_CELL_BYTES * 80 * 24 * 2 + 1000);
	CLEANUP_TERMINAL struct terminal *late = story_terminal(80, 24, "");
	terminal_feed(late, screen, length, NULL);
	free(screen);
	for (int i = 0; i < 80; i++) {
		const struct cell *cell = &terminal->grid->rows[7].cells[i], *drawn = &late->grid->rows[7].cells[i];
		cr_assert(cell->fg == drawn->fg && ((cell->bg ^ drawn->bg) & COLOUR_MASK) == 0);
	}
}
