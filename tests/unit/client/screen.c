#include "clients/c/command/screen.h"

#include <criterion/criterion.h>
#include <string.h>

/* Feed TEXT in pieces of PIECE bytes; what passed, as text. */
static const char *feed(struct screen *screen, const char *text, size_t piece)
{
	static char passed[8192];
	size_t length = 0, left = strlen(text);

	while (left > 0) {
		size_t now = left < piece ? left : piece;
		length += screen_feed(screen, (const uint8_t *)text, now, (uint8_t *)passed + length);
		text += now;
		left -= now;
	}
	passed[length] = '\0';
	return passed;
}

/* A program once asked its terminal where the cursor is. Whoever joins later must not type the answer into it. */
Test(screen, takes_queries_out_of_a_replay)
{
	static const char *const cases[][2] = {
		{"a\033[6nb", "ab"},
		{"\033[c\033[>c\033[=c\033[0c", ""},
		{"\033[5n\033[?6n\033[?15n", ""},
		{"\033]11;?\007x", "x"},
		{"\033]10;?\033\\x", "x"},
		{"\033]4;1;?\033\\", ""},
		{"\033P$qm\033\\", ""},
		{"\033P+q544e\033\\", ""},
		{"\033[>q", ""},
		{"\033[?u", ""},
		{"\033[?2026$p", ""},
		{"\033[18t", ""},
		{"\033Z", ""},
		{"a\005b", "ab"},
		{"\033[\033[6nx", "\033[x"},
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		for (size_t piece = 1; piece <= 64; piece *= 4) {
			struct screen screen;
			screen_init(&screen, true);
			cr_expect_str_eq(feed(&screen, cases[i][0], piece), cases[i][1], "case %zu by %zu", i, piece);
		}
}

Test(screen, leaves_everything_else_alone)
{
	static const char *const cases[] = {
		"plain \xe4\xb8\xad\n",
		"\033[31mred\033[0m",
		"\033[2J\033[H",
		"\033[?1049h\033[?25l",
		"\033]0;title\007",
		"\033]8;;http://x/?a;?b\033\\link",
		"\033[8;24;80t",
		"\033[22;0t",
		"\033(B\033)0",
		"\033[5 q",
		"\033[!p",
		"\0337\0338",
		"\033[1;24r",
		"\033[?2004h",
		"\033]52;c;aGk=\007",
		"\033[>4;2m",
		"\033[>1u",
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct screen screen;
		screen_init(&screen, true);
		cr_expect_str_eq(feed(&screen, cases[i], 3), cases[i], "case %zu", i);
	}
}

Test(screen, holds_nothing_back_when_live)
{
	struct screen screen;

	screen_init(&screen, false);
	cr_expect_str_eq(feed(&screen, "a\033[6", 64), "a\033[6");
	cr_expect_str_eq(feed(&screen, "nb", 64), "nb");
}

/* A picture of a megabyte is one long string: it passes, and only so much is held. */
Test(screen, passes_long_strings)
{
	struct screen screen;
	char text[4000];

	memset(text, 'x', sizeof text);
	memcpy(text, "\033]1337;", 7);
	memcpy(text + sizeof text - 3, "\007z", 3);
	screen_init(&screen, true);
	cr_expect_str_eq(feed(&screen, text, 100), text);
	cr_expect_eq(screen.state, SCREEN_GROUND);
}

static const char *restored(const struct screen *screen)
{
	static char out[SCREEN_RESTORE_BYTES + 1];
	size_t length = screen_restore(screen, out);

	cr_assert(length < sizeof out);
	out[length] = '\0';
	return out;
}

/* Leaving in the middle of an editor: its modes are undone. */
Test(screen, undoes_what_was_set)
{
	struct screen screen;

	screen_init(&screen, false);
	cr_expect_str_eq(restored(&screen), "", "nothing was set");
	feed(&screen, "\033[?1049;1h\033[?25l\033[?2004h\033[?1000h\033[?1006h\033=", 5);
	cr_expect_str_eq(restored(&screen), "\033[?1l\033[?25h\033[?1000l\033[?1006l\033[?2004l\033[?1049l\033>\033[0m");
	feed(&screen, "\033[?1049;1l\033[?25h\033[?2004l\033[?1000l\033[?1006l\033>", 64);
	cr_expect_str_eq(restored(&screen), "", "the program undid them itself");
	feed(&screen, "\033[1;31mred", 64);
	cr_expect_str_eq(restored(&screen), "\033[0m");
	feed(&screen, "\033[m", 64);
	cr_expect_str_eq(restored(&screen), "");
}

/* Suspended in an editor and back: its modes are set again. */
Test(screen, sets_again_what_was_undone)
{
	struct screen screen;
	char out[SCREEN_RESTORE_BYTES + 1];

	screen_init(&screen, false);
	feed(&screen, "\033[?1049h\033[?25l\033=", 64);
	out[screen_again(&screen, out)] = '\0';
	cr_expect_str_eq(out, "\033[?25l\033[?1049h\033=");
}
