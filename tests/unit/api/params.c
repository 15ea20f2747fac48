/* Parameters as rows: what is taken, and what a client hears of each that is not. */
#include "protocol/check.h"
#include "protocol/writer.h"
#include "server/api/method.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct all {
	const char *text, *need, *path;
	uint64_t uint;
	struct optional_uint optional;
	bool truth;
	int choice;
	struct view bytes;
	const char **strings, **env;
	struct uint_list uints;
	struct {
		uint64_t cols, rows;
	} map;
	bool has_map;
};

/* clang-format off */
static const char *const choices[] = {"red", "green", NULL};
static const struct param map_rows[] = {
	{"cols", PARAM_UINT, offsetof(struct all, map.cols), .required = true, .least = 1, .most = 1000},
	{"rows", PARAM_UINT, offsetof(struct all, map.rows), .least = 1, .most = 1000},
	{0},
};
static const struct param rows[] = {
	{"text", PARAM_TEXT, offsetof(struct all, text), .least = 2, .most = 5},
	{"need", PARAM_TEXT, offsetof(struct all, need), .required = true, .most = 8},
	{"path", PARAM_PATH, offsetof(struct all, path), .most = 8},
	{"uint", PARAM_UINT, offsetof(struct all, uint), .least = 3, .most = 300},
	{"optional", PARAM_OPTIONAL, offsetof(struct all, optional), .most = WIRE_INTEGER_MAX},
	{"truth", PARAM_BOOL, offsetof(struct all, truth), .required = false},
	{"choice", PARAM_CHOICE, offsetof(struct all, choice), .choices = choices},
	{"bytes", PARAM_BYTES, offsetof(struct all, bytes), .most = 4},
	{"strings", PARAM_STRINGS, offsetof(struct all, strings), .least = 1, .most = 3},
	{"env", PARAM_ENV, offsetof(struct all, env), .most = 2},
	{"uints", PARAM_UINTS, offsetof(struct all, uints), .most = 3},
	{"map", PARAM_MAP, .fields = map_rows, .has_offset = offsetof(struct all, has_map)},
	{0},
};

/* One key and its value, as bytes, beside a good `need`. */
#define B(text) text, sizeof(text) - 1
static const struct {
	const char *key, *value;
	size_t length;
	enum error_code code;    /* NONE: taken */
	const char *field, *says; /* of a refusal: the field, and what its message must name */
} table[] = {
	{"text", B("\xa2" "ab"), ERROR_CODE_NONE, NULL, NULL},
	{"text", B("\xa5" "abcde"), ERROR_CODE_NONE, NULL, NULL},
	{"text", B("\xd9\x03" "abc"), ERROR_CODE_NONE, NULL, NULL},
	{"text", B("\xa1" "a"), CODE_INVALID_PARAMS, "text", "2"},
	{"text", B("\xa6" "abcdef"), CODE_TOO_LARGE, "text", "5"},
	{"text", B("\xa3" "a\0b"), CODE_INVALID_PARAMS, "text", "NUL"},
	{"text", B("\xc4\x02" "ab"), CODE_INVALID_PARAMS, "text", "bytes"},
	{"text", B("\xc0"), CODE_INVALID_PARAMS, "text", "nil"},
	{"text", B("\x07"), CODE_INVALID_PARAMS, "text", "integer"},
	{"text", B("\x91\x07"), CODE_INVALID_PARAMS, "text", "array"},
	{"path", B("\xa4" "/tmp"), ERROR_CODE_NONE, NULL, NULL},
	{"path", B("\xa1" "/"), ERROR_CODE_NONE, NULL, NULL},
	{"path", B("\xa3" "tmp"), CODE_INVALID_PARAMS, "path", "absolute"},
	{"path", B("\xa0"), CODE_INVALID_PARAMS, "path", "absolute"},
	{"path", B("\xa3" "/\0a"), CODE_INVALID_PARAMS, "path", "NUL"},
	{"path", B("\xa9" "/ninechar"), CODE_TOO_LARGE, "path", "8"},
	{"uint", B("\x03"), ERROR_CODE_NONE, NULL, NULL},
	{"uint", B("\xcd\x01\x2c"), ERROR_CODE_NONE, NULL, NULL},
	{"uint", B("\xd3\x00\x00\x00\x00\x00\x00\x00\x03"), ERROR_CODE_NONE, NULL, NULL}, /* a signed form */
	{"uint", B("\x02"), CODE_INVALID_PARAMS, "uint", "3...300"},
	{"uint", B("\xcd\x01\x2d"), CODE_INVALID_PARAMS, "uint", "3...300"},
	{"uint", B("\xff"), CODE_INVALID_PARAMS, "uint", "3...300"},
	{"uint", B("\xcb\x40\x14\x00\x00\x00\x00\x00\x00"), CODE_INVALID_PARAMS, "uint", "floating"}, /* 5.0 */
	{"uint", B("\xc0"), CODE_INVALID_PARAMS, "uint", "nil"},
	{"uint", B("\xa1" "5"), CODE_INVALID_PARAMS, "uint", "text"},
	{"optional", B("\xc0"), ERROR_CODE_NONE, NULL, NULL},
	{"optional", B("\x00"), ERROR_CODE_NONE, NULL, NULL},
	{"optional", B("\xcf\x00\x1f\xff\xff\xff\xff\xff\xff"), ERROR_CODE_NONE, NULL, NULL},
	{"optional", B("\xff"), CODE_INVALID_PARAMS, "optional", "0...9007199254740991"},
	{"optional", B("\xc2"), CODE_INVALID_PARAMS, "optional", "boolean"},
	{"truth", B("\xc3"), ERROR_CODE_NONE, NULL, NULL},
	{"truth", B("\xc2"), ERROR_CODE_NONE, NULL, NULL},
	{"truth", B("\x01"), CODE_INVALID_PARAMS, "truth", "integer"},
	{"truth", B("\xc0"), CODE_INVALID_PARAMS, "truth", "nil"},
	{"choice", B("\xa3" "red"), ERROR_CODE_NONE, NULL, NULL},
	{"choice", B("\xa5" "green"), ERROR_CODE_NONE, NULL, NULL},
	{"choice", B("\xa4" "blue"), CODE_INVALID_PARAMS, "choice", "\"red\", \"green\""},
	{"choice", B("\xa4" "red\0"), CODE_INVALID_PARAMS, "choice", "\"red\", \"green\""},
	{"choice", B("\xa0"), CODE_INVALID_PARAMS, "choice", "\"red\", \"green\""},
	{"choice", B("\x00"), CODE_INVALID_PARAMS, "choice", "text"},
	{"bytes", B("\xc4\x00"), ERROR_CODE_NONE, NULL, NULL},
	{"bytes", B("\xc4\x04" "\0\1\2\3"), ERROR_CODE_NONE, NULL, NULL},
	{"bytes", B("\xc4\x05" "12345"), CODE_TOO_LARGE, "bytes", "4"},
	{"bytes", B("\xa1" "a"), CODE_INVALID_PARAMS, "bytes", "text"},
	{"bytes", B("\xc0"), CODE_INVALID_PARAMS, "bytes", "nil"},
	{"strings", B("\x91\xa1" "a"), ERROR_CODE_NONE, NULL, NULL},
	{"strings", B("\x93\xa0\xa1" "b" "\xc4\x01\xff"), ERROR_CODE_NONE, NULL, NULL}, /* bytes are a string, too */
	{"strings", B("\x90"), CODE_INVALID_PARAMS, "strings", "1...3"},
	{"strings", B("\x94\xa0\xa0\xa0\xa0"), CODE_LIMIT, "strings", "1...3"},
	{"strings", B("\x91\x07"), CODE_INVALID_PARAMS, "strings", "integer"},
	{"strings", B("\x92\xa1" "a" "\xc0"), CODE_INVALID_PARAMS, "strings", "nil"},
	{"strings", B("\x91\xa3" "a\0b"), CODE_INVALID_PARAMS, "strings", "NUL"},
	{"strings", B("\x91\xc4\x01\0"), CODE_INVALID_PARAMS, "strings", "NUL"},
	{"strings", B("\xa1" "a"), CODE_INVALID_PARAMS, "strings", "text"},
	{"strings", B("\xc0"), CODE_INVALID_PARAMS, "strings", "nil"},
	{"env", B("\x80"), ERROR_CODE_NONE, NULL, NULL},
	{"env", B("\x82\xa1" "A" "\xa1" "1" "\xa1" "B" "\xa0"), ERROR_CODE_NONE, NULL, NULL},
	{"env", B("\x81\xa1" "A" "\xc4\x02=\xff"), ERROR_CODE_NONE, NULL, NULL},
	{"env", B("\x83\xa1" "A" "\xa0\xa1" "B" "\xa0\xa1" "C" "\xa0"), CODE_LIMIT, "env", "2"},
	{"env", B("\x81\xa0\xa1" "x"), CODE_INVALID_PARAMS, "env", "empty"},
	{"env", B("\x81\xa3" "A=B" "\xa1" "x"), CODE_INVALID_PARAMS, "env", "="},
	{"env", B("\x81\xa2" "A\0" "\xa1" "x"), CODE_INVALID_PARAMS, "env", "NUL"},
	{"env", B("\x81\xa1" "A" "\xa2" "x\0"), CODE_INVALID_PARAMS, "env", "NUL"},
	{"env", B("\x81\xa1" "A" "\x01"), CODE_INVALID_PARAMS, "env", "integer"},
	{"env", B("\x91\xa1" "A"), CODE_INVALID_PARAMS, "env", "array"},
	{"env", B("\xc0"), CODE_INVALID_PARAMS, "env", "nil"},
	{"uints", B("\xc0"), ERROR_CODE_NONE, NULL, NULL},
	{"uints", B("\x90"), ERROR_CODE_NONE, NULL, NULL},
	{"uints", B("\x93\x00\x01\xce\xff\xff\xff\xff"), ERROR_CODE_NONE, NULL, NULL},
	{"uints", B("\x94\x01\x02\x03\x04"), CODE_TOO_LARGE, "uints", "3"},
	{"uints", B("\x91\xff"), CODE_INVALID_PARAMS, "uints", "negative"},
	{"uints", B("\x91\xcf\x00\x00\x00\x01\x00\x00\x00\x00"), CODE_INVALID_PARAMS, "uints", "2^32"},
	{"uints", B("\x91\xa1" "1"), CODE_INVALID_PARAMS, "uints", "text"},
	{"uints", B("\x01"), CODE_INVALID_PARAMS, "uints", "integer"},
	{"map", B("\xc0"), ERROR_CODE_NONE, NULL, NULL},
	{"map", B("\x82\xa4" "cols" "\x50\xa4" "rows" "\x18"), ERROR_CODE_NONE, NULL, NULL},
	{"map", B("\x81\xa4" "cols" "\x50"), ERROR_CODE_NONE, NULL, NULL},
	{"map", B("\x81\xa4" "rows" "\x50"), CODE_INVALID_PARAMS, "cols", "missing"},
	{"map", B("\x81\xa4" "cols" "\x00"), CODE_INVALID_PARAMS, "cols", "1...1000"},
	{"map", B("\x82\xa4" "cols" "\x01\xa5" "depth" "\x01"), CODE_INVALID_PARAMS, "", "cols, rows"},
	{"map", B("\x80"), CODE_INVALID_PARAMS, "cols", "missing"},
	{"map", B("\x90"), CODE_INVALID_PARAMS, "map", "array"},
	{"nothing", B("\x01"), CODE_INVALID_PARAMS, "", "`nothing`"},
	{"nothing", B("\x01"), CODE_INVALID_PARAMS, "", "text, need, path, uint, optional, truth, choice, bytes, strings, env, uints, map"},
	{"Text", B("\xa2" "ab"), CODE_INVALID_PARAMS, "", "`Text`"},
	{"", B("\x01"), CODE_INVALID_PARAMS, "", "``"},
};

/* Every parameter at once. */
static const char message[] =
	"\x8c\xa4" "text" "\xa3" "abc" "\xa4" "need" "\xa1" "n" "\xa4" "path" "\xa2" "/p" "\xa4" "uint" "\x64"
	"\xa8" "optional" "\x00" "\xa5" "truth" "\xc3" "\xa6" "choice" "\xa5" "green" "\xa5" "bytes" "\xc4\x02" "\0\xff"
	"\xa7" "strings" "\x92\xa1" "a" "\xc4\x01\xfe" "\xa3" "env" "\x82\xa1" "A" "\xa1" "1" "\xa1" "B" "\xa3" "x=y"
	"\xa5" "uints" "\x92\x07\x08" "\xa3" "map" "\x82\xa4" "cols" "\x50\xa4" "rows" "\x18";
/* clang-format on */

static struct reader checked(const struct writer *writer)
{
	struct check_report report;
	cr_assert(check_message(writer->data, writer->length, &report), "the test's own message: %s", report.what);
	return reader_over(writer->data, writer->length);
}

Test(params, each_type_takes_what_it_should_and_says_what_it_refuses)
{
	struct writer writer;
	writer_init(&writer, 4096);
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		struct all all = {0};
		struct arena arena = {.used = 0};
		struct params_error error = {0};
		writer_reset(&writer);
		writer_map(&writer, 2);
		writer_str(&writer, table[i].key);
		writer_raw(&writer, table[i].value, table[i].length);
		writer_key_str(&writer, "need", "x");
		bool taken = params_decode(checked(&writer), rows, &all, &arena, &error);
		cr_expect_eq(taken, table[i].code == ERROR_CODE_NONE, "row %zu, `%s`: %s", i, table[i].key, error.message);
		cr_expect_eq(error.code, table[i].code, "row %zu: %s", i, error.message);
		if (!taken && table[i].field) {
			cr_expect_str_eq(error.field, table[i].field, "row %zu: %s", i, error.message);
			cr_expect_not_null(strstr(error.message, table[i].says), "row %zu: %s", i, error.message);
			cr_expect_null(strstr(error.message, "nothing;"), "row %zu: %s", i, error.message);
		}
		arena_finish(&arena);
	}
	writer_finish(&writer);
}

Test(params, what_is_taken_stands_in_the_struct)
{
	struct all all = {.choice = -1};
	struct arena arena = {.used = 0};
	struct params_error error;
	struct check_report report;
	cr_assert(check_message((const uint8_t *)message, sizeof message - 1, &report), "%s at %zu", report.what,
	          report.at);
	cr_assert(params_decode(reader_over(message, sizeof message - 1), rows, &all, &arena, &error), "%s", error.message);
	cr_expect(strcmp(all.text, "abc") == 0 && strcmp(all.need, "n") == 0 && strcmp(all.path, "/p") == 0);
	cr_expect(all.uint == 100 && all.optional.has && all.optional.value == 0 && all.truth && all.choice == 1);
	cr_expect(all.bytes.length == 2 && memcmp(all.bytes.data, "\0\xff", 2) == 0);
	cr_expect(strcmp(all.strings[0], "a") == 0 && strcmp(all.strings[1], "\xfe") == 0 && !all.strings[2]);
	cr_expect(strcmp(all.env[0], "A=1") == 0 && strcmp(all.env[1], "B=x=y") == 0 && !all.env[2]);
	cr_expect(all.uints.count == 2 && all.uints.values[0] == 7 && all.uints.values[1] == 8);
	cr_expect(all.has_map && all.map.cols == 80 && all.map.rows == 24);
	arena_finish(&arena);
	cr_expect_eq(arena.used, 0);
}

Test(params, what_is_absent_keeps_its_default)
{
	struct all all = {.text = "default", .uint = 9, .choice = 1, .optional = {5, true}, .map = {1, 2}};
	struct arena arena = {.used = 0};
	struct params_error error;
	cr_assert(params_decode(reader_over("\x81\xa4need\xa0", 7), rows, &all, &arena, &error), "%s", error.message);
	cr_expect(strcmp(all.text, "default") == 0 && all.uint == 9 && all.choice == 1 && all.optional.has);
	cr_expect(!all.has_map && all.map.rows == 2 && all.uints.values == NULL && *all.need == '\0');
	arena_finish(&arena);
}

/* nil stands for a map that may be left out, not for one that must be there. */
Test(params, a_map_that_is_required)
{
	static const struct param needed[] = {
		{"map", PARAM_MAP, .fields = map_rows, .has_offset = offsetof(struct all, has_map), .required = true}, {0}};
	static const char nil[] = "\x81\xa3map\xc0";
	struct all all = {0};
	struct arena arena = {.used = 0};
	struct params_error error = {0};
	cr_expect_not(params_decode(reader_over(nil, sizeof nil - 1), needed, &all, &arena, &error));
	cr_expect(error.code == CODE_INVALID_PARAMS && strcmp(error.field, "map") == 0 && !all.has_map, "%s",
	          error.message);
	arena_finish(&arena);
}

Test(params, the_map_itself)
{
	static const struct {
		const char *bytes;
		size_t length;
		const char *says;
	} wrong[] = {{B("\xc0"), "map"},
	             {B("\x90"), "map"},
	             {B("\xa1"
	                "x"),
	              "map"},
	             {B("\x80"), "`need` is missing"},
	             {B(""), "`need` is missing"},
	             {B("\x81\xa4"
	                "uint"
	                "\x05"),
	              "`need` is missing"}};
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		struct all all = {0};
		struct arena arena = {.used = 0};
		struct params_error error;
		cr_expect_not(params_decode(reader_over(wrong[i].bytes, wrong[i].length), rows, &all, &arena, &error));
		cr_expect_eq(error.code, CODE_INVALID_PARAMS);
		cr_expect_not_null(strstr(error.message, wrong[i].says), "row %zu: %s", i, error.message);
		arena_finish(&arena);
	}
	static const struct param none[] = {{0}};
	struct arena arena = {.used = 0};
	struct params_error error;
	cr_expect(params_decode(reader_over("", 0), none, NULL, &arena, &error), "the empty reader is the empty map");
	cr_expect_not(params_decode(reader_over("\x81\xa1x\x01", 4), none, NULL, &arena, &error));
	cr_expect_not_null(strstr(error.message, "none"), "%s", error.message);
}

/* execve(2) takes no longer string; a name and a value are one. */
Test(params, an_argument_has_the_kernels_limit)
{
	static const struct {
		const char *key;
		size_t name, value;
		enum error_code code;
	} cases[] = {
		{"strings", 0, LIMIT_ARGUMENT_BYTES, ERROR_CODE_NONE}, {"strings", 0, LIMIT_ARGUMENT_BYTES + 1, CODE_LIMIT},
		{"env", 1, LIMIT_ARGUMENT_BYTES - 2, ERROR_CODE_NONE}, {"env", 1, LIMIT_ARGUMENT_BYTES - 1, CODE_LIMIT},
		{"env", LIMIT_ARGUMENT_BYTES - 1, 0, ERROR_CODE_NONE}, {"env", LIMIT_ARGUMENT_BYTES, 0, CODE_LIMIT},
	};
	char *large = malloc(LIMIT_ARGUMENT_BYTES + 1);
	memset(large, 'x', LIMIT_ARGUMENT_BYTES + 1);
	struct writer writer;
	writer_init(&writer, 1 << 20);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct all all = {0};
		struct arena arena = {.used = 0};
		struct params_error error = {0};
		writer_reset(&writer);
		writer_map(&writer, 2);
		writer_key_str(&writer, "need", "x");
		writer_str(&writer, cases[i].key);
		if (cases[i].name > 0) {
			writer_map(&writer, 1);
			writer_strn(&writer, large, cases[i].name);
		} else {
			writer_array(&writer, 1);
		}
		writer_strn(&writer, large, cases[i].value);
		params_decode(checked(&writer), rows, &all, &arena, &error);
		cr_expect_eq(error.code, cases[i].code, "case %zu: %s", i, error.message);
		arena_finish(&arena);
	}
	writer_finish(&writer);
	free(large);
}

/* However long the key that is wrong, and however many there are. */
Test(params, an_unknown_key_hears_all_that_there_are)
{
	struct writer writer;
	writer_init(&writer, 4096);
	for (size_t before = 0; before < 5; before++) {
		char key[401] = "aaaaa";
		for (size_t at = before; at + 4 < 400; at += 4)
			memcpy(key + at, "\xf0\x9f\x98\x80", 5); /* a character of four bytes */
		for (const struct method *method = methods; method->name; method++) {
			_Alignas(max_align_t) char args[METHOD_PARAMS_BYTES] = {0};
			struct arena arena = {.used = 0};
			struct params_error error = {0};
			writer_reset(&writer);
			writer_map(&writer, 1);
			writer_key_uint(&writer, key, 1);
			cr_assert_not(params_decode(checked(&writer), method->params, args, &arena, &error));
			for (const struct param *row = method->params; row->name; row++)
				cr_expect_not_null(strstr(error.message, row->name), "%s: `%s` is not named in: %s", method->name,
				                   row->name, error.message);
			arena_finish(&arena);
		}
	}
	writer_finish(&writer);
}
