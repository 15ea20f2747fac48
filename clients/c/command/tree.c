#include "tree.h"

#include "escape.h"
#include "layers.h"
#include "query.h"
#include "readable.h"

#include <inttypes.h>

enum { INDENT = 2, DEPTH_MOST = 8 };

/* What stands around a value: what its map is called, and its own name there. */
struct place {
	struct view parent, key;
};
static const struct view NAMELESS = {"", 0};

static void print_map(FILE *out, struct reader *reader, struct view name, int depth);
static void print_inline(FILE *out, struct reader *reader, struct place place);

static void print_number(FILE *out, struct reader *reader, struct place place)
{
	int64_t number = 0;

	if (!reader_int(reader, &number) || number < 0)
		fprintf(out, "%" PRId64, number);
	else
		readable_number(out, place.parent, place.key, (uint64_t)number);
}

static void print_inline_array(FILE *out, struct reader *reader, struct place place)
{
	uint32_t count = 0;

	reader_array(reader, &count);
	for (uint32_t i = 0; i < count; i++) {
		fputs(i ? " " : "", out);
		print_inline(out, reader, place);
	}
	fputs(count ? "" : "none", out);
}

static bool is_use(const struct reader *reader)
{
	struct reader at = *reader;
	uint32_t count;

	return reader_type(reader) == VALUE_MAP && reader_map(&at, &count) && count == 2 && !query_is_nil(reader, "used") &&
	       !query_is_nil(reader, "limit");
}

/* {used, limit} of NAME: "3 of 512", "3, no limit". */
static void print_use(FILE *out, struct reader *reader, struct view name)
{
	const struct view used = {"used", 4}, limit = {"limit", 5};
	uint64_t most = query_number(reader, "limit");

	readable_number(out, name, used, query_number(reader, "used"));
	fputs(most ? " of " : ", ", out);
	if (most)
		readable_number(out, name, limit, most);
	else
		fputs("no limit", out);
	reader_skip(reader);
}

static void print_inline_map(FILE *out, struct reader *reader, struct view name)
{
	uint32_t count = 0;
	struct view key;

	if (is_use(reader)) {
		print_use(out, reader, name);
		return;
	}
	reader_map(reader, &count);
	for (uint32_t i = 0; i < count && reader_str(reader, &key); i++) {
		fputs(i ? "  " : "", out);
		readable_key(out, key);
		fputc(' ', out);
		print_inline(out, reader, (struct place){name, key});
	}
}

static void print_inline(FILE *out, struct reader *reader, struct place place)
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
		print_number(out, reader, place);
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
		print_inline_array(out, reader, place);
		break;
	case VALUE_MAP:
		print_inline_map(out, reader, place.key);
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

static void print_rows(FILE *out, struct reader *reader, struct view name, int depth)
{
	uint32_t count = 0;

	reader_array(reader, &count);
	fputc('\n', out);
	for (uint32_t i = 0; i < count; i++) {
		fprintf(out, "%*s", depth * INDENT, "");
		print_inline(out, reader, (struct place){NAMELESS, name});
		fputc('\n', out);
	}
}

static void print_layers(FILE *out, struct reader *reader)
{
	fputc('\n', out);
	layers_print(out, reader);
	reader_skip(reader);
}

static void print_entry(FILE *out, struct reader *reader, struct place place, int depth)
{
	if (reader_type(reader) == VALUE_MAP && !is_use(reader) && depth < DEPTH_MOST) {
		fputc('\n', out);
		print_map(out, reader, place.key, depth);
	} else if (is_list_of_maps(reader) && view_equals(place.key, "layers")) {
		print_layers(out, reader);
	} else if (is_list_of_maps(reader)) {
		print_rows(out, reader, place.key, depth);
	} else {
		fputc(' ', out);
		print_inline(out, reader, place);
		fputc('\n', out);
	}
}

static void print_map(FILE *out, struct reader *reader, struct view name, int depth)
{
	uint32_t count = 0;
	struct view key;

	reader_map(reader, &count);
	for (uint32_t i = 0; i < count && reader_str(reader, &key); i++) {
		fprintf(out, "%*s", depth * INDENT, "");
		if (view_equals(name, "context")) /* names that users gave */
			escape_print(out, key.data, key.length);
		else
			readable_key(out, key);
		fputc(':', out);
		print_entry(out, reader, (struct place){name, key}, depth + 1);
	}
}

void tree_print(FILE *out, const struct reader *map)
{
	struct reader reader = *map;

	print_map(out, &reader, NAMELESS, 0);
}
