#include "story.h"

#include "tests/terminal/look.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

struct terminal *story_terminal(uint32_t columns, uint32_t rows, const char *output)
{
	struct terminal *terminal = terminal_create(columns, rows, TERMINAL_SCROLLBACK_LINES);
	story_feed(terminal, output);
	return terminal;
}

void story_feed(struct terminal *terminal, const char *output)
{
	terminal_feed(terminal, output, strlen(output), NULL);
}

const char *story_row(const struct terminal *terminal, int y, char *text)
{
	size_t length = 0, end = 0;
	for (int x = 0; x < terminal->grid->columns; x++) {
		struct looked looked = look_at(terminal, &terminal->grid->rows[y], x);
		size_t more = strlen(looked.text);
		memcpy(text + length, looked.text, more);
		length += more;
		if (strcmp(looked.text, " ") != 0)
			end = length;
	}
	text[end] = 0;
	return text;
}

/* What a program wrote to a terminal of 10x4, and what is seen. */
struct row_case {
	const char *what, *output;
	const char *rows[4];
	int x, y;
};

static const struct row_case row_cases[] = {
	{"lines", "one\r\ntwo", {"one", "two", "", ""}, 3, 1},
	{"a long line wraps", "0123456789ab", {"0123456789", "ab", "", ""}, 2, 1},
	{"behind the last column nothing wraps yet", "0123456789", {"0123456789", "", "", ""}, 10, 0},
	{"without DECAWM the last column is written over", "\x1b[?7l0123456789ab", {"012345678b", "", "", ""}, 10, 0},
	{"the top goes when the bottom is reached", "1\r\n2\r\n3\r\n4\r\n5", {"2", "3", "4", "5"}, 1, 3},
	{"only the region moves", "1\r\n2\r\n3\r\n4\x1b[2;3r\x1b[3;1H\n", {"1", "3", "", "4"}, 0, 2},
	{"reverse index at the region's top", "1\r\n2\r\n3\r\n4\x1b[2;3r\x1b[2;1H\x1bM", {"1", "", "2", "4"}, 0, 1},
	{"lines are inserted and deleted", "1\r\n2\r\n3\r\n4\x1b[2;1H\x1b[L\x1b[4;1H\x1b[M", {"1", "", "2", ""}, 0, 3},
	{"characters are inserted, deleted, erased",
     "abcdef\x1b[1;2H\x1b[2@\x1b[1;5H\x1b[P\x1b[2X",
     {"a  b  f", "", "", ""},
     4,
     0},
	{"insert mode", "abc\x1b[1;2H\x1b[4hXY", {"aXYbc", "", "", ""}, 3, 0},
	{"erasing to both ends", "abcdef\x1b[1;3H\x1b[1K\r\nabcdef\x1b[2;3H\x1b[K", {"   def", "ab", "", ""}, 2, 1},
	{"tab stops, set and cleared", "\ta\r\n\x1b[3g\x1b[4G\x1bH\r\tb", {"        a", "   b", "", ""}, 4, 1},
	{"wide characters", "漢字ab", {"漢字ab", "", "", ""}, 6, 0},
	{"a wide character does not break", "012345678漢", {"012345678", "漢", "", ""}, 2, 1},
	{"half of a wide character is none", "漢\x1b[1;2Hx", {" x", "", "", ""}, 2, 0},
	{"combining characters join", "e\xcc\x81x", {"e\xcc\x81x", "", "", ""}, 2, 0},
	{"emoji are wide", "🙂x", {"🙂x", "", "", ""}, 3, 0},
	{"DEC line drawing", "\x1b(0lqk\x1b(Blqk", {"┌─┐lqk", "", "", ""}, 6, 0},
	{"G1 by shift out", "\x1b)0q\x0eq\x0fq", {"q─q", "", "", ""}, 3, 0},
	{"origin mode counts from the region", "\x1b[2;3r\x1b[?6h\x1b[1;1Ha", {"", "a", "", ""}, 1, 1},
	{"the saved cursor",
     "ab\x1b"
     "7\x1b[4;4Hx\x1b"
     "8c",
     {"abc", "", "", "   x"},
     3,
     0},
	{"REP", "ab\x1b[3b", {"abbbb", "", "", ""}, 5, 0},
	{"the alternate screen leaves the first as it was",
     "first\x1b[?1049h\x1b[Halt\x1b[?1049l",
     {"first", "", "", ""},
     5,
     0},
	{"malformed UTF-8 is dropped", "a\xff\xc0\x80\xe2\x28\xed\xa0\x80z", {"a(z", "", "", ""}, 3, 0},
	{"C1 controls as characters",
     "a\xc2\x85"
     "b\xc2\x9b"
     "31mc",
     {"a", "bc", "", ""},
     2,
     1},
	{"strings draw nothing", "\x1bPq#0;2\x1b\\\x1b_G\x1b\\\x1b^x\x1b\\\x1b]777;y\x07z", {"z", "", "", ""}, 1, 0},
	{"a sequence that is cancelled", "\x1b[31\x18m\x1b]0;t\x1ax", {"mx", "", "", ""}, 2, 0},
	{"DECALN", "\x1b#8\x1b[2J\x1b#8", {"EEEEEEEEEE", "EEEEEEEEEE", "EEEEEEEEEE", "EEEEEEEEEE"}, 0, 0},
};

Test(terminal, what_a_program_writes_is_seen)
{
	char text[STORY_ROW_BYTES];
	for (size_t i = 0; i < sizeof row_cases / sizeof row_cases[0]; i++) {
		const struct row_case *row = &row_cases[i];
		CLEANUP_TERMINAL struct terminal *terminal = story_terminal(10, 4, row->output);
		for (int y = 0; y < 4; y++)
			cr_expect_str_eq(story_row(terminal, y, text), row->rows[y], "%s: row %d is \"%s\"", row->what, y, text);
		cr_expect(terminal->grid->x == row->x && terminal->grid->y == row->y, "%s: the cursor is at %d,%d", row->what,
		          terminal->grid->x, terminal->grid->y);
	}
}

/* A program that repeats a character, and how many there are on the screen when all are. */
struct repeat_case {
	const char *what, *character, *before;
	int count;
};

static const struct repeat_case repeat_cases[] = {
	{"letters", "x", "", 48},
	{"more than a screen", "x", "ab", 100},
	{"letters without end", "x", "abc", 163843},
	{"as many as fill lines", "x", "", 50 * 10 - 1},
	{"wide characters", "漢", "abc", 1007},
	{"combining characters", "e\xcc\x81\xcc\x82", "a", 1234},
	{"in a region", "x", "\x1b[2;3r\x1b[2;4H", 1003},
	{"without DECAWM", "x", "\x1b[?7l", 5000},
	{"wide characters without DECAWM", "漢\xcc\x81", "\x1b[?7l", 60},
	{"in insert mode", "x", "漢字漢字\x1b[4h\x1b[1;2H", 7},
	{"wide characters in insert mode", "漢", "漢字漢字\x1b[4h\x1b[1;4H", 777},
	{"over wide characters", "x", "漢字漢字\x1b[1;2H", 2},
	{"mapped characters", "q", "\x1b(0", 1777},
};

/* What is seen is as if each had been printed; what it costs is a screen. */
Test(terminal, repeated_characters_are_printed_up_to_a_screen)
{
	char text[STORY_ROW_BYTES], written[STORY_ROW_BYTES], repeat[32];
	for (size_t i = 0; i < sizeof repeat_cases / sizeof repeat_cases[0]; i++) {
		const struct repeat_case *row = &repeat_cases[i];
		CLEANUP_TERMINAL struct terminal *terminal = story_terminal(9, 4, row->before);
		CLEANUP_TERMINAL struct terminal *all = story_terminal(9, 4, row->before);
		story_feed(terminal, row->character);
		snprintf(repeat, sizeof repeat, "\x1b[%db", row->count);
		story_feed(terminal, repeat);
		for (int n = 0; n <= row->count; n++)
			story_feed(all, row->character);
		for (int y = 0; y < 4; y++) {
			cr_expect_str_eq(story_row(terminal, y, text), story_row(all, y, written), "%s: row %d is \"%s\"",
			                 row->what, y, text);
			cr_expect_eq(terminal->grid->rows[y].wrapped, all->grid->rows[y].wrapped, "%s: row %d", row->what, y);
		}
		cr_expect(terminal->grid->x == all->grid->x && terminal->grid->y == all->grid->y, "%s: the cursor is at %d,%d",
		          row->what, terminal->grid->x, terminal->grid->y);
		cr_expect_leq(terminal->scrollback.count, 4 + 2, "%s: %u lines above", row->what, terminal->scrollback.count);
		cr_expect_leq(terminal->decorations.clusters.count, 8, "%s: %u clusters", row->what,
		              terminal->decorations.clusters.count);
	}
}

/* RIS blanks what was written, and no more: a program may send thousands in a row. */
Test(terminal, a_reset_writes_only_where_something_was_written)
{
	CLEANUP_TERMINAL struct terminal *terminal = story_terminal(10, 4, "abc");
	terminal->main.rows[0].cells[9].text = 'x';
	story_feed(terminal, "\x1b"
	                     "c");
	cr_expect_eq(terminal->main.rows[0].cells[9].text, 'x');
	cr_expect_eq(terminal->main.rows[0].cells[0].text, CELL_BLANK.text);
	terminal->main.rows[0].cells[9] = CELL_BLANK;
	story_feed(terminal, "\x1b[44m\x1b[?1047h");
	for (int x = 0; x < 10; x++)
		cr_expect_eq(terminal->grid->rows[3].cells[x].bg, terminal->pen.bg);
}

Test(terminal, titles_come_and_go)
{
	CLEANUP_TERMINAL struct terminal *terminal = story_terminal(10, 4, "\x1b]0;first\x07\x1b[22t\x1b]2;second é\x1b\\");
	cr_assert_str_eq(terminal_title(terminal), "second é");
	story_feed(terminal, "\x1b[23t");
	cr_assert_str_eq(terminal_title(terminal), "first");
	for (int i = 0; i < 100; i++)
		story_feed(terminal, "\x1b[22t");
	cr_assert_eq(terminal->title.depth, TERMINAL_TITLE_STACK);
}

Test(terminal, a_smaller_size_cuts_and_keeps_the_cursors_line)
{
	char text[STORY_ROW_BYTES];
	CLEANUP_TERMINAL struct terminal *terminal = story_terminal(10, 4, "1\r\n2\r\n3\r\n0123456789");
	terminal_resize(terminal, 6, 2);
	cr_assert_str_eq(story_row(terminal, 0, text), "3");
	cr_assert_str_eq(story_row(terminal, 1, text), "012345");
	cr_assert_eq(terminal->scrollback.count, 2);
	terminal_resize(terminal, 12, 4);
	cr_assert_str_eq(story_row(terminal, 1, text), "012345");
	cr_assert_str_eq(story_row(terminal, 3, text), "");
	terminal_resize(terminal, 0, 5000);
	cr_assert_eq(terminal_columns(terminal), TERMINAL_COLUMNS_LEAST);
	cr_assert_eq(terminal_rows(terminal), TERMINAL_SIZE_MOST);
}
