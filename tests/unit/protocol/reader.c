#include "protocol/reader.h"
#include "protocol/check.h"
#include "oracle.h"
#include "random.h"

#include <criterion/criterion.h>
#include <string.h>

Test(reader, finds_what_msgpack_c_finds_in_random_messages)
{
	struct random random = {.state = 20240229};
	struct writer writer;
	writer_init(&writer, 1 << 22);
	for (unsigned round = 0; round < 2000; round++) {
		struct check_report report;
		writer_reset(&writer);
		uint32_t values = 1 + random_below(&random, 4);
		for (uint32_t i = 0; i < values; i++)
			random_value(&random, &writer, 1 + random_below(&random, 8));
		cr_assert_not(writer.failed);
		cr_assert(check_message(writer.data, writer.length, &report), "round %u: %s at %zu", round, report.what,
		          report.at);
		cr_assert_eq(report.values, values);
		cr_assert_not(report.has_request_id);
		cr_assert(oracle_agrees(writer.data, writer.length), "round %u", round);
	}
	writer_finish(&writer);
}

/* A message that was damaged on purpose is refused, or means to msgpack-c what it means to us; the reader stays inside
 * either way (the bytes end where the heap block ends, which AddressSanitizer watches). */
Test(reader, never_disagrees_about_damaged_messages)
{
	struct random random = {.state = 77};
	struct writer writer;
	writer_init(&writer, 1 << 22);
	unsigned passed = 0, refused = 0;
	for (unsigned round = 0; round < 3000; round++) {
		writer_reset(&writer);
		random_value(&random, &writer, 4);
		size_t length = writer.length - random_below(&random, 2);
		uint8_t *damaged = malloc(length + 1);
		memcpy(damaged, writer.data, length);
		damaged = realloc(damaged, length > 0 ? length : 1);
		if (length > 0)
			damaged[random_below(&random, (uint32_t)length)] = (uint8_t)random_next(&random);
		struct check_report report;
		struct reader reader = reader_over(damaged, length);
		while (reader_skip(&reader))
			;
		if (check_message(damaged, length, &report)) {
			passed++;
			cr_assert(oracle_agrees(damaged, length), "round %u", round);
		} else {
			refused++;
			cr_assert_neq(report.code, ERROR_CODE_NONE);
			cr_assert_not_null(report.what);
			cr_assert_leq(report.at, length);
		}
		free(damaged);
	}
	cr_assert_gt(passed, 200);
	cr_assert_gt(refused, 200);
	writer_finish(&writer);
}

/* Somebody asks for text and there is a number: the answer is no, and the cursor still stands before the number. */
Test(reader, a_read_of_another_type_moves_nothing)
{
	static const struct {
		const char *bytes;
		size_t length;
		enum value_type type;
	} values[] = {
		{"\xc0", 1, VALUE_NIL},      {"\xc3", 1, VALUE_BOOL},  {"\x07", 1, VALUE_UINT},
		{"\xff", 1, VALUE_NEGATIVE}, {"\xa1x", 2, VALUE_STR},  {"\xca\0\0\0\0", 5, VALUE_FLOAT},
		{"\xc4\1x", 3, VALUE_BIN},   {"\x90", 1, VALUE_ARRAY}, {"\x80", 1, VALUE_MAP},
		{"", 0, VALUE_END},          {"\xc1", 1, VALUE_END},   {"\xd4\1\1", 3, VALUE_END},
	};
	for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
		struct reader reader = reader_over(values[i].bytes, values[i].length);
		enum value_type type = values[i].type;
		const uint8_t *at = reader.at;
		bool flag;
		uint64_t number;
		int64_t integer;
		double real;
		uint32_t count;
		struct view view;
		cr_expect_eq(reader_type(&reader), type);
		cr_expect(type == VALUE_NIL || !reader_nil(&reader));
		cr_expect(type == VALUE_BOOL || !reader_bool(&reader, &flag));
		cr_expect(type == VALUE_UINT || !reader_uint(&reader, &number));
		cr_expect(type == VALUE_UINT || type == VALUE_NEGATIVE || !reader_int(&reader, &integer));
		cr_expect(type == VALUE_FLOAT || !reader_float(&reader, &real));
		cr_expect(type == VALUE_STR || !reader_str(&reader, &view));
		cr_expect(type == VALUE_BIN || !reader_bin(&reader, &view));
		cr_expect(type == VALUE_ARRAY || !reader_array(&reader, &count));
		cr_expect(type == VALUE_MAP || !reader_map(&reader, &count));
		cr_expect_eq(reader.at, at, "%s was read as something else", value_type_name(type));
		cr_expect_eq(reader_skip(&reader), type != VALUE_END);
	}
}

Test(reader, views_are_compared_whole)
{
	cr_expect(view_equals((struct view){"attach", 6}, "attach"));
	cr_expect(view_equals((struct view){NULL, 0}, ""));
	cr_expect_not(view_equals((struct view){"attach", 5}, "attach"));
	cr_expect_not(view_equals((struct view){"attach", 6}, "atta"));
	cr_expect_not(view_equals((struct view){"a\0b", 3}, "a"));
}
