#include "clients/c/command/escape.h"
#include "clients/c/command/columns.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

struct printed {
	char *text;
	size_t length, columns;
};

static struct printed print(size_t (*how)(FILE *, const void *, size_t), const void *text, size_t length)
{
	struct printed printed = {0};
	FILE *out = open_memstream(&printed.text, &printed.length);

	printed.columns = how(out, text, length);
	fclose(out);
	return printed;
}

/* Somebody names a session so that listing it would clear the screen, set the title, or hide what follows. */
Test(escape, leaves_nothing_that_steers_a_terminal)
{
	static const struct {
		const char *text, *safe;
	} cases[] = {
		{"plain", "plain"},
		{"gr\xc3\xbc\xc3\x9f dich \xe4\xb8\xad \xf0\x9f\x98\x80",
	     "gr\xc3\xbc\xc3\x9f dich \xe4\xb8\xad \xf0\x9f\x98\x80"},
		{"a\nb\tc\r", "a\\nb\\tc\\r"},
		{"\033[2J\033]0;x\007", "\\e[2J\\e]0;x\\x07"},
		{"\x7f", "\\x7f"},
		{"\xc2\x9b"
	     "31m",
	     "\\u{9b}31m"},
		{"\x9b"
	     "31m",
	     "\\x9b31m"},
		{"\xff\xfe", "\\xff\\xfe"},
		{"\xc0\x80", "\\xc0\\x80"},
		{"\xed\xa0\x80", "\\xed\\xa0\\x80"},
		{"\xe2\x80\xae"
	     "gpj.exe",
	     "\\u{202e}gpj.exe"},
		{"\xe2\x94", "\\xe2\\x94"},
		{"back\\slash", "back\\slash"},
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct printed printed = print(escape_print, cases[i].text, strlen(cases[i].text));
		cr_expect_str_eq(printed.text, cases[i].safe, "case %zu: %s", i, printed.text);
		free(printed.text);
	}
	struct printed nul = print(escape_print, "a\0b", 3);
	cr_expect_str_eq(nul.text, "a\\x00b");
	cr_expect_eq(nul.columns, 6);
	free(nul.text);
}

static size_t as_json(FILE *out, const void *text, size_t length)
{
	escape_json(out, text, length);
	return 0;
}

static size_t as_base64(FILE *out, const void *text, size_t length)
{
	escape_base64(out, text, length);
	return 0;
}

Test(escape, writes_json_text)
{
	static const struct {
		const char *text, *json;
	} cases[] = {
		{"", "\"\""},
		{"a\"b\\c", "\"a\\\"b\\\\c\""},
		{"\n\t\r\b\f\x01\x1b", "\"\\n\\t\\r\\b\\f\\u0001\\u001b\""},
		{"\xe4\xb8\xad", "\"\xe4\xb8\xad\""},
		{"\xc2\x9b", "\"\\u009b\""},
		{"\xff", "\"\\ufffd\""},
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct printed printed = print(as_json, cases[i].text, strlen(cases[i].text));
		cr_expect_str_eq(printed.text, cases[i].json, "case %zu: %s", i, printed.text);
		free(printed.text);
	}
}

/* The vectors of RFC 4648, section 10. */
Test(escape, writes_base64)
{
	static const char *const cases[][2] = {
		{"", ""},
		{"f", "Zg=="},
		{"fo", "Zm8="},
		{"foo", "Zm9v"},
		{"foob", "Zm9vYg=="},
		{"fooba", "Zm9vYmE="},
		{"foobar", "Zm9vYmFy"},
		{"\xff\xfe\xfd", "//79"},
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct printed printed = print(as_base64, cases[i][0], strlen(cases[i][0]));
		cr_expect_str_eq(printed.text, cases[i][1]);
		free(printed.text);
	}
}

Test(columns, align_by_what_is_seen)
{
	static const char *const headings[] = {"ID", "NAME", NULL};
	struct columns *columns = columns_create(headings);
	char *text;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	columns_add(columns, "\xc3\xa4\xc3\xb6\xc3\xbc", 6);
	columns_add(columns, "x\n", 2);
	columns_format(columns, "%d", 1);
	columns_add(columns, "y", 1);
	columns_print(columns, out);
	fclose(out);
	cr_expect_str_eq(text, "ID   NAME\n\xc3\xa4\xc3\xb6\xc3\xbc  x\\n\n1    y\n", "%s", text);
	free(text);
}
