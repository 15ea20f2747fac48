#include "protocol/wire.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name;
	unsigned number;
	enum frame_direction direction;
} FRAMES[] = {
#define FRAME(name, number, direction, summary) {#name, number, DIRECTION_##direction},
#include "protocol/table.def"
};

static const char *const CODES[] = {
#define ERROR_CODE(name, code, summary) code,
#include "protocol/table.def"
};

static const char *const REASON_NAMES[] = {
#define REASON(name, reason, summary) reason,
#include "protocol/table.def"
};

struct number_row {
	const char *name;
	long number;
};

static const struct number_row STREAM_ROWS[] = {
#define STREAM(name, number, text) {text, number},
#include "protocol/table.def"
};

static const struct number_row ROLE_ROWS[] = {
#define ROLE(name, rank, text) {text, rank},
#include "protocol/table.def"
};

static const struct number_row CLOSE_ROWS[] = {
#define CLOSE_CODE(name, number, summary) {#name, number},
#include "protocol/table.def"
};

static const struct number_row LIMIT_ROWS[] = {
#define LIMIT_VALUE(name, value, summary) {#name, value},
#include "protocol/table.def"
};

#define COUNT_OF(table) (sizeof(table) / sizeof(table)[0])

Test(table, every_frame_kind_has_a_number_of_its_own_in_its_range)
{
	static const struct {
		unsigned first, last;
	} ranges[] = {[DIRECTION_EVENT] = {1, 31},
	              [DIRECTION_SERVER] = {32, 47},
	              [DIRECTION_CLIENT] = {48, 59},
	              [DIRECTION_RESERVED] = {1, 63}};
	for (size_t i = 0; i < COUNT_OF(FRAMES); i++) {
		enum frame_direction direction;
		cr_expect_geq(FRAMES[i].number, ranges[FRAMES[i].direction].first, "%s", FRAMES[i].name);
		cr_expect_leq(FRAMES[i].number, ranges[FRAMES[i].direction].last, "%s", FRAMES[i].name);
		cr_expect_str_eq(frame_kind_name(FRAMES[i].number), FRAMES[i].name);
		cr_expect(frame_kind_direction(FRAMES[i].number, &direction) && direction == FRAMES[i].direction);
		for (size_t j = 0; j < i; j++)
			cr_expect_neq(FRAMES[i].number, FRAMES[j].number, "%s and %s", FRAMES[i].name, FRAMES[j].name);
	}
	static const unsigned unknown[] = {0, 15, 33 + 20, FRAME_FIRST_OPTIONAL, 1000, ~0U};
	for (size_t i = 0; i < COUNT_OF(unknown); i++) {
		enum frame_direction direction;
		cr_expect_null(frame_kind_name(unknown[i]), "%u", unknown[i]);
		cr_expect_not(frame_kind_direction(unknown[i], &direction));
	}
}

Test(table, names_are_found_again)
{
	for (size_t i = 0; i < COUNT_OF(CODES); i++)
		cr_expect_str_eq(error_code_name(error_code_find(CODES[i])), CODES[i]);
	cr_expect_eq(error_code_find("not_found"), CODE_NOT_FOUND);
	cr_expect_eq(error_code_find("no such code"), ERROR_CODE_NONE);
	cr_expect_eq(error_code_find(""), ERROR_CODE_NONE);
	cr_expect_null(error_code_name(ERROR_CODE_NONE));
	cr_expect_null(error_code_name(ERROR_CODE_COUNT));
	cr_expect_str_eq(reason_name(REASON_OUTPUT_LIMIT), "output_limit");
	cr_expect_null(reason_name(REASON_NONE));
	cr_expect_null(reason_name(REASON_COUNT));
	for (size_t i = 0; i < COUNT_OF(STREAM_ROWS); i++)
		cr_expect_str_eq(stream_name((unsigned)STREAM_ROWS[i].number), STREAM_ROWS[i].name);
	cr_expect_null(stream_name(0));
	cr_expect_null(stream_name(4));
	for (size_t i = 0; i < COUNT_OF(ROLE_ROWS); i++) {
		enum role role = role_find(ROLE_ROWS[i].name, (uint32_t)strlen(ROLE_ROWS[i].name));
		cr_expect_eq((long)role, ROLE_ROWS[i].number);
		cr_expect_str_eq(role_name(role), ROLE_ROWS[i].name);
	}
	cr_expect_eq(role_find("owners", 6), ROLE_NONE);
	cr_expect_eq(role_find("own", 3), ROLE_NONE);
	cr_expect_eq(role_find("", 0), ROLE_NONE);
	cr_expect_null(role_name(ROLE_NONE));
	cr_expect(ROLE_VIEWER < ROLE_EDITOR && ROLE_EDITOR < ROLE_OWNER);
}

static char *read_specification(void)
{
	FILE *file = fopen(PROTOCOL_FOLDER "/PROTOCOL.md", "r");
	cr_assert_not_null(file);
	char *text = NULL;
	size_t size = 0;
	cr_assert_gt(getdelim(&text, &size, '\0', file), 0);
	fclose(file);
	return text;
}

static void expect_text(const char *specification, const char *format, const char *name, long number)
{
	char wanted[128];
	snprintf(wanted, sizeof wanted, format, name, number);
	cr_expect_not_null(strstr(specification, wanted), "PROTOCOL.md does not have %s", wanted);
}

/* A client is written from the text alone: each row of the table stands in it, with its number. */
Test(table, the_specification_has_every_row)
{
	char *text = read_specification();
	for (size_t i = 0; i < COUNT_OF(FRAMES); i++)
		expect_text(text, FRAMES[i].direction == DIRECTION_RESERVED ? "`%2$ld %1$s`" : "`[%2$ld %1$s,", FRAMES[i].name,
		            FRAMES[i].number);
	for (size_t i = 0; i < COUNT_OF(CODES); i++)
		expect_text(text, "`%s`", CODES[i], 0);
	for (size_t i = 0; i < COUNT_OF(REASON_NAMES); i++)
		expect_text(text, "`%s`", REASON_NAMES[i], 0);
	for (size_t i = 0; i < COUNT_OF(STREAM_ROWS); i++)
		expect_text(text, "%2$ld %1$s", STREAM_ROWS[i].name, STREAM_ROWS[i].number);
	for (size_t i = 0; i < COUNT_OF(ROLE_ROWS); i++)
		expect_text(text, "| `%s` | %ld |", ROLE_ROWS[i].name, ROLE_ROWS[i].number);
	for (size_t i = 0; i < COUNT_OF(CLOSE_ROWS); i++)
		expect_text(text, "%s| %ld |", "\n", CLOSE_ROWS[i].number);
	for (size_t i = 0; i < COUNT_OF(LIMIT_ROWS); i++)
		expect_text(text, "| `%s` | %ld |", LIMIT_ROWS[i].name, LIMIT_ROWS[i].number);
	free(text);
}
