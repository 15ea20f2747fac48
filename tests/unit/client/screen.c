#include "clients/c/command/screen.h"

#include <criterion/criterion.h>
#include <string.h>

/* Feed TEXT in pieces of PIECE bytes; what passed, as text. */
static const char *feed(struct screen *screen, const char *text, size_t piece)
{
	static char passed[32768];
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

/* What passes of the first text is the second, however it is cut. */
static void check(const char *const cases[][2], size_t count)
{
	for (size_t i = 0; i < count; i++)
		for (size_t piece = 1; piece <= 64; piece *= 4) {
			struct screen screen;
			screen_init(&screen);
			cr_expect_str_eq(feed(&screen, cases[i][0], piece), cases[i][1], "case %zu by %zu", i, piece);
		}
}

/* The server answers the programs' questions. A terminal that was asked would type into the program, for each who watches. */
Test(screen, takes_queries_out)
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
		{"\033_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\033\\x", "x"},
		{"\033[>q", ""},
		{"\033[?u", ""},
		{"\033[?2026$p", ""},
		{"\033[18t", ""},
		{"\033[?4m", ""},
		{"\033[1$w", ""},
		{"\033[#R\033[#|", ""},
		{"\033]60\033\\", ""},
		{"\033Z", ""},
		{"a\005b", "ab"},
		{"\033[?2048h\033[?2031h", ""},
		{"\033[\033[6nx", "x"},
		{"\033[6\nnx", "\nx"},
		{"\033[6\177nx", "x"},
		{"\xc2\x9b"
	     "6nx",
	     "x"},
		{"\xc2\x9d"
	     "11;?\xc2\x9cx",
	     "x"},
		{"\033]2;title\033[6nx", "\033]2;title\007x"},
	};

	check(cases, sizeof cases / sizeof cases[0]);
}

/* A program that steers more than its picture: the clipboard, windows, other programs, the character set. */
Test(screen, takes_out_what_reaches_beyond_the_picture)
{
	static const char *const cases[][2] = {
		{"\033]52;c;aGk=\007x", "x"},
		{"\033]52;c;?\007x", "x"},
		{"\033]1337;Copy=:aGk=\007x", "x"},
		{"\033]7;file:///\007x", "x"},
		{"\033]777;notify;a;b\007x", "x"},
		{"\033[8;24;80t\033[2tx", "x"},
		{"\033[5ix", "x"},
		{"\033Ptmux;\033\033]52;c;aGk=\007\033\\x", "x"},
		{"\033P0;1|17/6c73\033\\x", "x"},
		{"\033%@\033 Gx", "x"},
		{"\033[?2lx", "x"},
		{"a\x9b"
	     "6nb",
	     "a\xef\xbf\xbd"
	     "6nb"},
		{"a\xe0\x82\x9b"
	     "b",
	     "a\xef\xbf\xbd"
	     "b"},
		{"a\xffz", "a\xef\xbf\xbdz"},
		{"\033]2;a\001b\007x", "\033]2;ab\007x"},
		{"\033]0;evil\033]0;still\007x", "\033]2;evil\007\033]2;still\007x"},
	};

	check(cases, sizeof cases / sizeof cases[0]);
}

Test(screen, leaves_everything_else_alone)
{
	static const char *const cases[] = {
		"plain \xe4\xb8\xad\n",
		"\033[31mred\033[0m",
		"\033[2J\033[H",
		"\033[?1049h\033[?25l",
		"\033]2;title\007",
		"\033(B\033)0",
		"\033[5 q",
		"\033[!p",
		"\0337\0338",
		"\033[1;24r",
		"\033[?2004h",
		"\033[>4;2m",
		"\033[>1u",
		"\033[38:2:1:2:3mx",
		"\033]4;1;#ff0000\007",
		"\033]104\007",
		"\033]8;;http://x/?a;?b\007link",
		"\xf0\x9f\x98\x80\r\n",
		"\033#8",
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct screen screen;
		screen_init(&screen);
		cr_expect_str_eq(feed(&screen, cases[i], 3), cases[i], "case %zu", i);
	}
}

/* What a terminal takes for a mode is looked at, however it is written; and what is not known to be harmless is none. */
Test(screen, takes_out_modes_that_may_not_be_set)
{
	static const char *const cases[][2] = {
		{"\033[?;2048hx", "x"},
		{"\033[?;2031hx", "x"},
		{"\033[?1049;;2hx", "x"},
		{"\033[?25;2031lx", "x"},
		{"\033[?1003:2048hx", "x"},
		{"\033[?25:1hx", "x"},
		{"\033[4:2hx", "x"},
		{"\033[?002048hx", "x"},
		{"\033[?4294969344hx", "x"},
		{"\033[?18446744073709553664hx", "x"},
		{"\033[?9001h\033[?40h\033[?67h\033[?99hx", "x"},
		{"\033[2hx", "x"},
		{"\033[;2hx", "x"},
		{"\033[4;12lx", "x"},
		{"\033[3hx", "x"},
		{"\033[?1049s\033[?1049rx", "x"},
		{"\033[?s\033[?rx", "x"},
		{"\033[?1049;;25h", "\033[?1049;;25h"},
		{"\033[?;1h", "\033[?;1h"},
		{"\033[?4l\033[4l\033[20h", "\033[?4l\033[4l\033[20h"},
		{"\033[?3h\033[?3;4l", ""},
		{"\033[?1048h", "\033[?1048h"},
	};

	check(cases, sizeof cases / sizeof cases[0]);
}

/* Other forms that terminals read in more ways than one. */
Test(screen, takes_out_what_is_read_in_several_ways)
{
	static char lengthy[600];
	const char *const cases[][2] = {
		{"\033[?1;2$px", "x"},
		{"\033[1$px", "x"},
		{"\033[1?25hx", "x"},
		{"\033[? hx", "x"},
		{"\033[!!px", "x"},
		{"\033[2:5rx", "x"},
		{"\033[>1;2m\033[>0m\033[>;4mx", "x"},
		{"\033[>4:2mx", "x"},
		{"\033]52:c;aGk=\007x", "x"},
		{"\033]0052;c;aGk=\007x", "x"},
		{"\033]11x;#000\007x", "x"},
		{"\033(%%6x", "x"},
		{lengthy, "x"},
		{"\033[>4;2m\033[>4m", "\033[>4;2m\033[>4m"},
		{"\033(%6", "\033(%6"},
	};

	memset(lengthy, ';', sizeof lengthy - 1);
	memcpy(lengthy, "\033[?25", 5);
	memcpy(lengthy + sizeof lengthy - 4, "hx", 3);
	check(cases, sizeof cases / sizeof cases[0]);
}

/* To be safe: characters and lines. */
Test(screen, passes_text_alone)
{
	struct screen screen;

	screen_init(&screen);
	screen.only_text = screen.allows_clipboard = true;
	cr_expect_str_eq(
		feed(&screen, "\033[31mred\033[0m\ta\r\n\033]2;t\007\033]52;c;aGk=\007\016\007\b\033(0\xe4\xb8\xad", 3),
		"red\ta\r\n\xe4\xb8\xad");
}

/* Nothing is so long that it passes unread: not a question after many colours, not a clipboard. */
Test(screen, drops_what_is_too_long)
{
	static const char *const heads[] = {"\033]52;c;", "\033]4;1;", "\033]2;", "\033[1;", "\033P", "\033]1337;File="};
	static char text[3 * SCREEN_HELD];

	for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) {
		struct screen screen;
		memset(text, '1', sizeof text);
		memcpy(text, heads[i], strlen(heads[i]));
		memcpy(text + sizeof text - 10, ";?\007\033[0mz", 9);
		screen_init(&screen);
		const char *passed = feed(&screen, text, 100);
		cr_expect(strlen(passed) < 2 * SCREEN_HELD && !strstr(passed, "\033]") && strstr(passed, "z"), "case %zu", i);
	}
}

/* A viewer who allows it gets the clipboard that the program writes, however long; it is never read. */
Test(screen, passes_the_clipboard_when_it_is_allowed)
{
	static char text[3 * SCREEN_HELD];
	struct screen screen;

	memset(text, 'A', sizeof text - 1);
	memcpy(text, "\033]52;c;", 7);
	memcpy(text + sizeof text - 4, "\007z", 3);
	screen_init(&screen);
	screen.allows_clipboard = true;
	cr_expect_str_eq(feed(&screen, text, 100), text);
	cr_expect_str_eq(feed(&screen, "\033]52;c;aGk=\033\\", 3), "\033]52;c;aGk=\007");
	cr_expect_str_eq(feed(&screen, "\033]52;c;?\007", 3), "");
}

/* However a program ends its title: it comes whole. An icon's name does not. */
Test(screen, passes_the_title)
{
	struct screen screen;

	screen_init(&screen);
	cr_expect_str_eq(feed(&screen, "a\033]0;vim \xe4\xb8\xad\033\\z\033]1;icon\a", 2), "a\033]2;vim \xe4\xb8\xad\az");
	cr_expect_str_eq(screen.title, "vim \xe4\xb8\xad");
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

	screen_init(&screen);
	cr_expect_str_eq(restored(&screen), "", "nothing was set");
	feed(&screen, "\033[?1049;1h\033[?25l\033[?2004h\033[?1000h\033[?1006h\033=\033[2;9r\033]11;#000\007", 5);
	cr_expect_str_eq(restored(&screen),
	                 "\033[?1l\033[?25h\033[?1000l\033[?1006l\033[?2004l\033[?1049l\033>"
	                 "\0337\033[r\0338"
	                 "\033]104\007\033]105\007\033]110\007\033]111\007\033]112\007\033]113\007"
	                 "\033]114\007\033]115\007\033]116\007\033]117\007\033]118\007\033]119\007\033[0m");
	screen_init(&screen);
	feed(&screen, "\033[?1049;1h\033[?25l\033=", 5);
	feed(&screen, "\033[?1049;1l\033[?25h\033>", 64);
	cr_expect_str_eq(restored(&screen), "", "the program undid them itself");
	feed(&screen, "\033[1;31mred", 64);
	cr_expect_str_eq(restored(&screen), "\033[0m");
	feed(&screen, "\033[m", 64);
	cr_expect_str_eq(restored(&screen), "");
}

/* Nor is anything left where a parameter was empty, a number was left out, or a mode is none of DEC's. */
Test(screen, undoes_what_was_set_in_an_unusual_way)
{
	static const char *const cases[][2] = {
		{"\033[?;1049;;1003h\033[?;25l", "\033[?25h\033[?1003l\033[?1049l\033[0m"},
		{"\033[4h\033[20h", "\033[4l\033[20l\033[0m"},
		{"\033[;4;20h\033[4l", "\033[20l\033[0m"},
		{"\033[?1049;2048h", ""},
		{"\033[;31m", "\033[0m"},
		{"\033[;10r", "\0337\033[r\0338\033[0m"},
		{"\033[?8l\033[?12h", "\033[?8h\033[?12l\033[0m"},
		{"\033(0", "\033(B\033)B\017\033[0m"},
		{"\033(0\033(B\016\017", "\033(B\033)B\017\033[0m"},
		{"\033(B\033[m", ""},
		{"\033(0\033[?1049h\033(B", "\033[?1049l\033(B\033)B\017\033[0m"},
		{"\016", "\033(B\033)B\017\033[0m"},
		{"\033[?1049h\033[>1u", "\033[>4m\033[<65535u\033[?1049l\033[>4m\033[<65535u\033[0m"},
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		for (size_t piece = 1; piece <= 64; piece *= 4) {
			struct screen screen;
			screen_init(&screen);
			feed(&screen, cases[i][0], piece);
			cr_expect_str_eq(restored(&screen), cases[i][1], "case %zu by %zu", i, piece);
		}
}

/* All that can be left, at once. */
Test(screen, has_room_for_all_that_is_undone)
{
	struct screen screen;

	screen_init(&screen);
	memset(screen.differs, true, sizeof screen.differs);
	screen.has_charset = true;
	screen.has_keypad = screen.has_colour = screen.has_region = true;
	screen.has_cursor_style = screen.has_keys = screen.has_palette = true;
	cr_expect(strlen(restored(&screen)) <= SCREEN_RESTORE_BYTES);
}

/* Suspended in an editor and back: its modes are set again. */
Test(screen, sets_again_what_was_undone)
{
	struct screen screen;
	char out[SCREEN_RESTORE_BYTES + 1];

	screen_init(&screen);
	feed(&screen, "\033[?1049h\033[?25l\033=", 64);
	out[screen_again(&screen, out)] = '\0';
	cr_expect_str_eq(out, "\033[?25l\033[?1049h\033=");
}
