#include "tree.h"

#include "escape.h"

#include <inttypes.h>

enum { INDENT = 2, DEPTH_MOST = 8 };

static void print_map(FILE *out, struct reader *reader, int depth);

static void print_number(FILE *out, struct reader *reader)
{
	int64_t number = 0;

	reader_int(reader, &number);
	fprintf(out, "%" PRId64, number);
}

static void print_inline(FILE *out, struct reader *reader);

static void print_inline_array(FILE *out, struct reader *reader)
{
	uint32_t count = 0;

	reader_array(reader, &count);
	for (uint32_t i = 0; i < count; i++) {
		fputs(i ? " " : "", out);
		print_inline(out, reader);
	}
}

static void print_inline_map(FILE *out, struct reader *reader)
{
	uint32_t count = 0;
	struct view key;

	reader_map(reader, &count);
	for (uint32_t i = 0; i < count && reader_str(reader, &key); i++) {
		fputs(i ? "  " : "", out);
		escape_print(out, key.data, key.length);
		fputc(' ', out);
		print_inline(out, reader);
	}
}

static void print_inline(FILE *out, struct reader *reader)
{
	enum value_type type = reader_type(reader);
	struct view view = {"", 0};
	bool truth = false;

	switch (type) {
	case VALUE_BOOL:
		reader_bool(reader, &truth);
		fputs(truth ? "yes" : "no", out);
		break;
	case VALUE_UINT:
	case VALUE_NEGATIVE:
		print_number(out, reader);
		break;
	case VALUE_STR:
		reader_str(reader, &view);
		escape_print(out, view.data, view.length);
		break;
	case VALUE_BIN:
		reader_bin(reader, &view);
		escape_print(out, view.data, view.length);
		break;
	case VALUE_ARRAY:
		print_inline_array(out, reader);
		break;
	case VALUE_MAP:
		print_inline_map(out, reader);
		break;
	default:
		fputc('-', out);
		reader_skip(reader);
		break;
	}
}

static bool is_list_of_maps(const struct reader *reader)
{
	struct reader at = *reader;
	uint32_t count;

	return reader_array(&at, &count) && count > 0 && reader_type(&at) == VALUE_MAP;
}

static void print_rows(FILE *out, struct reader *reader, int depth)
{
	uint32_t count = 0;

	reader_array(reader, &count);
	fputc('\n', out);
	for (uint32_t i = 0; i < count; i++) {
		fprintf(out, "%*s", depth * INDENT, "");
		print_inline(out, reader);
		fputc('\n', out);
	}
}

static void print_entry(FILE *out, struct reader *reader, int depth)
{
	if (reader_type(reader) == VALUE_MAP && depth < DEPTH_MOST) {
		fputc('\n', out);
		print_map(out, reader, depth);
	} else if (is_list_of_maps(reader)) {
		print_rows(out, reader, depth);
	} else {
		fputc(' ', out);
		print_inline(out, reader);
		fputc('\n', out);
	}
}

static void print_map(FILE *out, struct reader *reader, int depth)
{
	uint32_t count = 0;
	struct view key;

	reader_map(reader, &count);
	for (uint32_t i = 0; i < count && reader_str(reader, &key); i++) {
		fprintf(out, "%*s", depth * INDENT, "");
		escape_print(out, key.data, key.length);
		fputc(':', out);
		print_entry(out, reader, depth + 1);
	}
}

void tree_print(FILE *out, const struct reader *map)
{
	struct reader reader = *map;

	print_map(out, &reader, 0);
}
