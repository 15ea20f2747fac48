#include "clients/c/command/detach_key.h"

#include <criterion/criterion.h>
#include <string.h>

/* `|` splits what is typed into reads; it is never typed itself. COMMANDS: all that were met, in order. */
static void check(struct detach_key key, const char *typed, const char *passed, const char *commands)
{
	uint8_t out[256];
	char met[16] = "";
	size_t length = 0, count = 0;
	bool leaves = false;

	while (*typed && !leaves) {
		size_t piece = strcspn(typed, "|");
		while (piece > 0 && !leaves) {
			struct detach_key_result result = detach_key_feed(&key, (const uint8_t *)typed, piece, out + length);
			length += result.passed;
			typed += result.taken;
			piece -= result.taken;
			leaves = result.command == DETACH_KEY_LEAVE;
			if (result.command)
				met[count++] = (char)result.command;
		}
		typed += *typed == '|';
	}
	cr_expect_str_eq(met, commands, "%s", passed);
	cr_expect_eq(length, strlen(passed), "%s: %.*s", passed, (int)length, out);
	cr_expect_arr_eq(out, passed, strlen(passed));
}

Test(detach_key, is_found_in_what_is_typed)
{
	static const struct {
		const char *key, *typed, *passed;
		bool detaches;
	} cases[] = {
		{"^]", "ls\r", "ls\r", false},    {"^]", "ls\x1dmore", "ls", true},    {"^a", "\x01", "", true},
		{"~.", "~.", "", true},           {"~.", "ls\r~.", "ls\r", true},      {"~.", "ls\r|~|.", "ls\r", true},
		{"~.", "ls ~.", "ls ~.", false},  {"~.", "~~.", "~.", false},          {"~.", "\r~x", "\r~x", false},
		{"~.", "\r~\r~.", "\r~\r", true}, {"none", "\x1d~.", "\x1d~.", false},
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct detach_key key;
		cr_assert_null(detach_key_parse(&key, cases[i].key));
		check(key, cases[i].typed, cases[i].passed, cases[i].detaches ? "d" : "");
	}
}

/* In a shared terminal the key begins a command: what was typed before it is sent, the command is not. */
Test(detach_key, is_a_prefix)
{
	static const struct {
		const char *key, *typed, *passed, *commands;
	} cases[] = {
		{"^]", "ls\x1dtmore", "lsmore", "\001t"},
		{"^]", "a\x1d|rb", "ab", "\001r"},
		{"^]",
	     "a\x1d"
	     "db",
	     "a", "\001d"},
		{"^]",
	     "a\x1d\x1d"
	     "b",
	     "a", "\001d"},
		{"^]", "a\x1d.", "a", "\001d"},
		{"^]", "a\x1dsb",
	     "a\x1d"
	     "b",
	     "\001"},
		{"^]", "\x1d\x1b[A|b", "b", "\001\x1b"},
		{"~.", "~t", "", "\001t"},
		{"~.", "a\r~~b", "a\r~b", "\001"},
		{"~.", "a~t", "a~t", ""},
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct detach_key key;
		cr_assert_null(detach_key_parse(&key, cases[i].key));
		key.is_prefix = true;
		check(key, cases[i].typed, cases[i].passed, cases[i].commands);
	}
}

/* An answer was asked for: the next character is it, even the key itself. */
Test(detach_key, takes_an_answer)
{
	struct detach_key key;

	cr_assert_null(detach_key_parse(&key, "^]"));
	key.is_prefix = key.takes_next = true;
	check(key, "2ls", "ls", "2");
}

Test(detach_key, is_refused_with_what_is_allowed)
{
	static const char *const cases[] = {"", "x", "^", "~~", "abc", "^1", "\x01\x02"};
	struct detach_key key;

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		cr_expect_not_null(detach_key_parse(&key, cases[i]), "%s", cases[i]);
}

Test(detach_key, has_a_name)
{
	struct detach_key key;
	char name[8];

	detach_key_parse(&key, "^]");
	detach_key_name(&key, name);
	cr_expect_str_eq(name, "^]");
	detach_key_parse(&key, "~.");
	detach_key_name(&key, name);
	cr_expect_str_eq(name, "~.");
}
