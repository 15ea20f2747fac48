#include "story.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

/* Whatever a program writes for as long as it likes. */
static const char *const floods[] = {
	"\x1b]8;;http://example.org/%d\x1b\\x\r\n",
	"\x1b[4:3;58:2::%d:1:2mx",
	"a\xcc\x81\xcc\x82\xcc\x83\xcc\x84\xcc\x85\xcc\x86\xcc\x87\xcc\x88\xcc\x89\xcc\x8a\xcc\x8b\xcc\x8c\xcc\x8d\xcc\x8e"
	"\xcc\x8f\xcc\x90%d",
	"\x1b]0;title %d\x07\x1b[22t",
	"\x1b]4;%d;#123456\x07",
	"\x1b[38;2;1;2;3ma\x1b[48;2;4;5;6mb\x1b[1;%dH\x1b[38;2;9;8;7mc\r\n",
	"%d\r\n",
};

Test(memory, it_is_bounded)
{
	char text[256];
	for (size_t i = 0; i < sizeof floods / sizeof floods[0]; i++) {
		CLEANUP_TERMINAL struct terminal *terminal = story_terminal(80, 24, "");
		size_t before = terminal_memory(terminal);
		for (int n = 0; n < 60000; n++) {
			snprintf(text, sizeof text, floods[i], n);
			story_feed(terminal, text);
		}
		size_t after = terminal_memory(terminal);
		cr_expect(before < 64 << 10 && after < 3 << 20, "%s: %zu bytes, then %zu", floods[i], before, after);
	}
}

/* An idle terminal costs its screen. */
Test(memory, a_usual_terminal_is_small)
{
	CLEANUP_TERMINAL struct terminal *terminal = story_terminal(80, 24, "");
	for (int i = 0; i < 2000; i++)
		story_feed(terminal, "a line of text of a usual length, in two \x1b[32mcolours\x1b[0m\r\n");
	cr_expect_lt(terminal_memory(terminal), 256 << 10, "%zu", terminal_memory(terminal));
	cr_expect_eq(terminal->scrollback.count, TERMINAL_SCROLLBACK_LINES);
}

/* What is still seen keeps its link, however many others come and go. */
Test(memory, what_is_seen_is_kept)
{
	CLEANUP_TERMINAL struct terminal *terminal = story_terminal(80, 24, "\x1b]8;;http://kept/\x1b\\link\x1b]8;;\x1b\\");
	char text[64];
	for (int n = 0; n < 10 * LINKS_MOST; n++) {
		snprintf(text, sizeof text, "\x1b[2;1H\x1b]8;;http://other/%d\x1b\\x", n);
		story_feed(terminal, text);
	}
	struct decoration kept = decorations_at(&terminal->decorations, terminal->main.rows[0].cells[0].decoration);
	cr_assert_str_eq(decorations_link_at(&terminal->decorations, kept.link)->address, "http://kept/");
	struct decoration last = decorations_at(&terminal->decorations, terminal->main.rows[1].cells[0].decoration);
	snprintf(text, sizeof text, "http://other/%d", 10 * LINKS_MOST - 1);
	cr_assert_str_eq(decorations_link_at(&terminal->decorations, last.link)->address, text);
}
