/* The table of methods against itself and against the text that strangers write their clients from. */
#include "server/api/method.h"

#include <criterion/criterion.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void expect_rows(const struct method *method, const struct param *rows, size_t most_rows)
{
	size_t count = 0;
	for (const struct param *row = rows; row->name; row++, count++) {
		cr_expect(row->name[0] && strspn(row->name, "abcdefghijklmnopqrstuvwxyz_") == strlen(row->name), "%s: `%s`",
		          method->name, row->name);
		for (const struct param *other = rows; other < row; other++)
			cr_expect_str_neq(row->name, other->name, "%s", method->name);
		cr_expect_lt(row->offset, method->size, "%s: `%s` lies outside its struct", method->name, row->name);
		cr_expect_eq(row->type == PARAM_CHOICE, row->choices != NULL, "%s: `%s`", method->name, row->name);
		cr_expect_eq(row->type == PARAM_MAP, row->fields != NULL, "%s: `%s`", method->name, row->name);
		bool bounded = row->type == PARAM_BOOL || row->type == PARAM_CHOICE || row->type == PARAM_MAP || row->most > 0;
		cr_expect(bounded && row->least <= row->most, "%s: `%s` has no bound", method->name, row->name);
		if (row->fields)
			expect_rows(method, row->fields, most_rows);
	}
	cr_expect_leq(count, most_rows);
}

Test(methods, every_row_is_whole)
{
	for (const struct method *method = methods; method->name; method++) {
		cr_expect(method->summary && strlen(method->summary) > 5, "`%s` has no summary", method->name);
		cr_expect(method->handle && method->params && method->size <= METHOD_PARAMS_BYTES, "`%s`", method->name);
		cr_expect_neq(method->right, RIGHT_NONE, "`%s` is everybody's", method->name);
		const struct view name = {method->name, (uint32_t)strlen(method->name)};
		cr_expect_eq(method_find(name), method, "`%s` stands twice", method->name);
		cr_expect_not_null(strchr(method->name, '.'));
		expect_rows(method, method->params, 60); /* what was seen is a bit in 64 */
	}
	cr_expect_null(method_find((struct view){"session", 7}));
	cr_expect_null(method_find((struct view){"session.creat", 13}));
	cr_expect_null(method_find((struct view){"", 0}));
}

/* --- PROTOCOL.md --- */

static char *protocol;

static void set_up(void)
{
	FILE *file = fopen(PROTOCOL_FOLDER "/PROTOCOL.md", "r");
	cr_assert_not_null(file);
	protocol = calloc(1, 1 << 20);
	cr_assert_gt(fread(protocol, 1, (1 << 20) - 1, file), 10000);
	fclose(file);
}

static void tear_down(void)
{
	free(protocol);
}
TestSuite(methods_protocol, .init = set_up, .fini = tear_down);

/* What PROTOCOL.md says of METHOD, from its name in bold to the next; the caller frees it. */
static char *section_of(const char *method)
{
	char name[64];
	snprintf(name, sizeof name, "**`%s", method);
	const char *begin = protocol;
	while ((begin = strstr(begin, name)) && begin[strlen(name)] != '`' && begin[strlen(name)] != ' ')
		begin++;
	cr_assert_not_null(begin, "PROTOCOL.md does not tell of `%s`", method);
	const char *end = strstr(begin + 3, "\n**`"), *rights = strstr(begin, "\nRights of a token");
	if (!end || (rights && rights < end))
		end = rights;
	cr_assert_not_null(end);
	return strndup(begin, (size_t)(end - begin));
}

/* Whether WORD stands in TEXT, not as a part of another. */
static bool has_word(const char *text, const char *word)
{
	size_t length = strlen(word);
	for (const char *at = text; (at = strstr(at, word)); at++) {
		bool begins = at == text || !(isalnum((unsigned char)at[-1]) || at[-1] == '_');
		if (begins && !(isalnum((unsigned char)at[length]) || at[length] == '_'))
			return true;
	}
	return false;
}

static void expect_told(const struct method *method, const struct param *rows, const char *section,
                        const char *borrowed)
{
	for (const struct param *row = rows; row->name; row++) {
		cr_expect(has_word(section, row->name) || (borrowed && has_word(borrowed, row->name)),
		          "PROTOCOL.md does not tell of `%s` of `%s`", row->name, method->name);
		for (const char *const *choice = row->choices; choice && *choice; choice++)
			cr_expect(has_word(section, *choice) || (borrowed && has_word(borrowed, *choice)) ||
			              has_word(protocol, *choice),
			          "PROTOCOL.md does not tell of \"%s\"", *choice);
		if (row->fields)
			expect_told(method, row->fields, section, borrowed);
	}
}

Test(methods_protocol, tells_of_every_method_and_parameter)
{
	char *start = section_of("process.start");
	for (const struct method *method = methods; method->name; method++) {
		char *section = section_of(method->name);
		const char *borrowed = strstr(section, "parameters of `process.start`") ? start : NULL;
		expect_told(method, method->params, section, borrowed);
		free(section);
	}
	free(start);
}

static bool has_param(const struct param *rows, const char *name, size_t length)
{
	for (const struct param *row = rows; row->name; row++)
		if (strlen(row->name) == length && memcmp(row->name, name, length) == 0)
			return true;
	return false;
}

/* The other way round: what stands in a method's table there is a parameter here. */
Test(methods_protocol, tells_of_no_parameter_that_there_is_not)
{
	size_t count = 0;
	for (const struct method *method = methods; method->name; method++) {
		char *section = section_of(method->name);
		for (const char *line = strchr(section, '\n'); line; line = strchr(line + 1, '\n')) {
			const char *cell_end = line[1] == '|' ? strchr(line + 2, '|') : NULL;
			const char *at = line + 2;
			while (cell_end && (at = memchr(at, '`', (size_t)(cell_end - at)))) {
				const char *end = strchr(at + 1, '`');
				cr_assert(end && end < cell_end);
				cr_expect(has_param(method->params, at + 1, (size_t)(end - at - 1)), "`%s` has no parameter `%.*s`",
				          method->name, (int)(end - at - 1), at + 1);
				at = end + 1;
				count++;
			}
		}
		free(section);
	}
	cr_expect_gt(count, 20, "the tables were found");
}

/* Every method that the text tells of in bold is a row, but `hello`, which the door answers. */
Test(methods_protocol, tells_of_no_method_that_there_is_not)
{
	for (const char *at = protocol; (at = strstr(at, "**`")); at += 3) {
		size_t length = strcspn(at + 3, "` ");
		const struct view name = {at + 3, (uint32_t)length};
		if (memchr(name.data, '.', length))
			cr_expect_not_null(method_find(name), "there is no `%.*s`", (int)length, name.data);
	}
}
