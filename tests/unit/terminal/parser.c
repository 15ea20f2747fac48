#include "story.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

/* The beginning of something, and what brings another parser there. */
struct pending_case {
	const char *what, *output, *pending;
};

static const struct pending_case pending_cases[] = {
	{"nothing", "text\x1b[m", ""},
	{"an escape", "x\x1b", "\x1b"},
	{"a designation", "\x1b(", "\x1b("},
	{"a control sequence", "\x1b[", "\x1b["},
	{"its numbers", "\x1b[38;2;255", "\x1b[38;2;255"},
	{"numbers behind colons", "\x1b[4:3;58:2::1", "\x1b[4:3;58:2::1"},
	{"a private one", "\x1b[?1049", "\x1b[?1049"},
	{"an intermediate", "\x1b[?2026$", "\x1b[?2026$"},
	{"controls within are done at once", "\x1b[3\n1", "\x1b[31"},
	{"one that is ignored", "\x1b[1<2", "\x1b[0<"},
	{"a command", "\x1b]2;half a ti", "\x1b]2;half a ti"},
	{"its number", "\x1b]1", "\x1b]1"},
	{"a malformed command", "\x1b]x;y", "\x1b]:"},
	{"a device string", "\x1bP1$qm", "\x1bP1$qm"},
	{"a privacy message", "\x1b^secret", "\x1b^"},
	{"half a character", "\xf0\x9f\x99", "\xf0\x9f\x99"},
	{"half a character in a command", "\x1b]2;\xe6\xbc", "\x1b]2;\xe6\xbc"},
};

Test(parser, what_is_not_complete_can_be_told)
{
	for (size_t i = 0; i < sizeof pending_cases / sizeof pending_cases[0]; i++) {
		const struct pending_case *row = &pending_cases[i];
		CLEANUP_TERMINAL struct terminal *terminal = story_terminal(10, 4, row->output);
		size_t length;
		uint8_t *pending = terminal_pending(terminal, &length);
		cr_expect(length == strlen(row->pending) && memcmp(pending, row->pending, length) == 0, "%s: %.*s", row->what,
		          (int)length, (const char *)pending);
		free(pending);
	}
}

static void feed_times(struct terminal *terminal, const char *output, int times)
{
	for (int i = 0; i < times; i++)
		story_feed(terminal, output);
}

/* What goes on for ever must not be kept, nor end the terminal. */
Test(parser, endless_sequences_are_passed_over)
{
	static const char *const beginnings[] = {"\x1b]2;", "\x1bP$q", "\x1b_", "\x1b[", "\x1b(", "\x1b]"};
	for (size_t i = 0; i < sizeof beginnings / sizeof beginnings[0]; i++) {
		CLEANUP_TERMINAL struct terminal *terminal = story_terminal(10, 4, beginnings[i]);
		feed_times(terminal, "1111111111111111;;;;::::", 10000);
		cr_expect(terminal_memory(terminal) < 100000, "%s: %zu bytes", beginnings[i] + 1, terminal_memory(terminal));
		size_t length;
		uint8_t *pending = terminal_pending(terminal, &length);
		cr_expect(length <= PARSER_STRING_BYTES + 64);
		free(pending);
		story_feed(terminal, "\x18\x1b[H\x1b[2Jok");
		char text[STORY_ROW_BYTES];
		cr_expect_str_eq(story_row(terminal, 0, text), "ok", "%s: %s", beginnings[i] + 1, text);
	}
}
