#include "clients/c/command/detach_key.h"

#include <criterion/criterion.h>
#include <string.h>

/* `|` splits what is typed into reads; it is never typed itself. */
static void check(const char *name, const char *typed, const char *passed, bool detaches)
{
	struct detach_key key;
	uint8_t out[256];
	size_t length = 0;
	bool detach = false;

	cr_assert_null(detach_key_parse(&key, name));
	while (*typed && !detach) {
		size_t piece = strcspn(typed, "|");
		length += detach_key_feed(&key, (const uint8_t *)typed, piece, out + length, &detach);
		typed += piece + (typed[piece] == '|');
	}
	cr_expect_eq(detach, detaches, "%s", passed);
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

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		check(cases[i].key, cases[i].typed, cases[i].passed, cases[i].detaches);
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
