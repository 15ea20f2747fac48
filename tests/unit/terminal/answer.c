#include "story.h"

#include <criterion/criterion.h>
#include <string.h>

struct answer_case {
	const char *query, *answer;
};

static const struct answer_case answer_cases[] = {
	{"\x1b[5n", "\x1b[0n"},
	{"\x1b[2;3H\x1b[6n", "\x1b[2;3R"},
	{"\x1b[?6n", "\x1b[?1;1R"},
	{"0123456789\x1b[6n", "\x1b[1;10R"},
	{"\x1b[c", "\x1b[?1;2c"},
	{"\x1b[>c", "\x1b[>0;276;0c"},
	{"\x1b[=c", "\x1bP!|00000000\x1b\\"},
	{"\x1b[>q", "\x1bP>|sandbar(" SANDBAR_VERSION ")\x1b\\"},
	{"\x1bP$qr\x1b\\", "\x1bP1$r1;4r\x1b\\"},
	{"\x1b[1;38;5;9;4:3m\x1bP$qm\x1b\\", "\x1bP1$r0;1;4:3;38;5;9m\x1b\\"},
	{"\x1b[4 q\x1bP$q q\x1b\\", "\x1bP1$r4 q\x1b\\"},
	{"\x1bP$qx\x1b\\", "\x1bP0$r\x1b\\"},
	{"\x1bP+q544e\x1b\\", "\x1bP0+r\x1b\\"},
	{"\x1b]11;?\x07", "\x1b]11;rgb:0000/0000/0000\x07"},
	{"\x1b]10;#102030\x07\x1b]10;?\x1b\\", "\x1b]10;rgb:1010/2020/3030\x1b\\"},
	{"\x1b]4;1;rgb:ff/80/00;1;?;2;?\x07", "\x1b]4;1;rgb:ffff/8080/0000\x07\x1b]4;2;rgb:0000/cdcd/0000\x07"},
	{"\x1b]4;1;rgb:0123456789ab/1/2;1;?\x07", "\x1b]4;1;rgb:cdcd/0000/0000\x07"}, /* too many digits */
	{"\x1b[?2004h\x1b[?2004$p", "\x1b[?2004;1$y"},
	{"\x1b[?7$p\x1b[?1006$p\x1b[?4711$p", "\x1b[?7;1$y\x1b[?1006;2$y\x1b[?4711;0$y"},
	{"\x1b[4$p", "\x1b[4;2$y"},
	{"\x1b[18t", "\x1b[8;4;10t"},
	/* What must not be said back. */
	{"\x1b]2;evil\x07\x1b[21t\x1b[20t", ""},
	{"\x1b]52;c;?\x07", ""},
	{"\x05", ""},
};

Test(answer, queries_are_answered_when_they_are_live)
{
	for (size_t i = 0; i < sizeof answer_cases / sizeof answer_cases[0]; i++) {
		const struct answer_case *row = &answer_cases[i];
		struct terminal_answers answers = {.length = 1};
		CLEANUP_TERMINAL struct terminal *terminal = terminal_create(10, 4, 0);
		terminal_feed(terminal, row->query, strlen(row->query), &answers);
		cr_expect(answers.length == strlen(row->answer) && memcmp(answers.bytes, row->answer, answers.length) == 0,
		          "%s: %.*s", row->query + 1, (int)answers.length, answers.bytes);
	}
}

/* A query that came in a replay is not answered when its last byte comes live either: it is one query, seen once. */
Test(answer, a_replay_is_not_answered)
{
	struct terminal_answers answers;
	CLEANUP_TERMINAL struct terminal *terminal = story_terminal(10, 4, "\x1b[6n\x1b[c");
	terminal_feed(terminal, "x", 1, &answers);
	cr_assert_eq(answers.length, 0);
}

Test(answer, a_flood_of_queries_is_bounded)
{
	struct terminal_answers answers;
	CLEANUP_TERMINAL struct terminal *terminal = terminal_create(10, 4, 0);
	char flood[4 * 1000 + 1] = "";
	for (int i = 0; i < 1000; i++)
		memcpy(flood + (size_t)i * 4, "\x1b[5n", 5);
	terminal_feed(terminal, flood, sizeof flood - 1, &answers);
	cr_assert(answers.length <= TERMINAL_ANSWER_BYTES && answers.length + 4 >= TERMINAL_ANSWER_BYTES);
	cr_assert_eq(answers.length / 4 + answers.dropped, 1000);
	terminal_feed(terminal, "\x1b[5n", 4, &answers);
	cr_assert(answers.length == 4 && answers.dropped == 0);
}
