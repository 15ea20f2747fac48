#include "params.h"

#include "server/session/context.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct decoding {
	struct reader reader;
	char *into;
	struct arena *arena;
	struct params_error *error;
	const struct param *row;
};

void arena_finish(struct arena *arena)
{
	for (size_t i = 0; i < arena->used; i++)
		free(arena->blocks[i]);
	arena->used = 0;
}

static void *arena_take(struct arena *arena, size_t bytes)
{
	void *block = calloc(1, bytes ? bytes : 1);
	if (!block || arena->used == ARENA_BLOCKS)
		abort(); /* a method has fewer rows than an arena has blocks, and a row takes at most one */
	arena->blocks[arena->used++] = block;
	return block;
}

static bool fail(struct decoding *at, enum error_code code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static bool fail(struct decoding *at, enum error_code code, const char *format, ...)
{
	at->error->code = code;
	at->error->field = at->row ? at->row->name : "";
	va_list args;
	va_start(args, format);
	vsnprintf(at->error->message, sizeof at->error->message, format, args);
	va_end(args);
	return false;
}

static bool wrong_type(struct decoding *at, const char *allowed)
{
	return fail(at, CODE_INVALID_PARAMS, "`%s` must be %s; it is %s", at->row->name, allowed,
	            value_type_name(reader_type(&at->reader)));
}

static void *field(struct decoding *at)
{
	return at->into + at->row->offset;
}

static bool decode_text(struct decoding *at)
{
	const struct param *row = at->row;
	struct view text;
	if (!reader_str(&at->reader, &text))
		return wrong_type(at, "text");
	if (text.length > row->most)
		return fail(at, CODE_TOO_LARGE, "`%s` may have at most %llu bytes; it has %u", row->name,
		            (unsigned long long)row->most, text.length);
	if (text.length < row->least)
		return fail(at, CODE_INVALID_PARAMS, "`%s` must have at least %llu bytes", row->name,
		            (unsigned long long)row->least);
	if (memchr(text.data, '\0', text.length))
		return fail(at, CODE_INVALID_PARAMS, "`%s` may not hold a NUL byte", row->name);
	char *copy = arena_take(at->arena, text.length + 1);
	memcpy(copy, text.data, text.length);
	*(const char **)field(at) = copy;
	return true;
}

static bool decode_path(struct decoding *at)
{
	if (!decode_text(at))
		return false;
	return **(const char **)field(at) == '/' ||
	       fail(at, CODE_INVALID_PARAMS, "`%s` must be an absolute path", at->row->name);
}

static bool decode_number(struct decoding *at, uint64_t *value)
{
	const struct param *row = at->row;
	if (!reader_uint(&at->reader, value) || *value < row->least || *value > row->most) {
		bool is_integer = reader_type(&at->reader) == VALUE_NEGATIVE;
		char range[96];
		snprintf(range, sizeof range, "an integer in %llu...%llu", (unsigned long long)row->least,
		         (unsigned long long)row->most);
		if (is_integer || (*value != UINT64_MAX && (*value < row->least || *value > row->most)))
			return fail(at, CODE_INVALID_PARAMS, "`%s` must be %s", row->name, range);
		return wrong_type(at, range);
	}
	return true;
}

static bool decode_uint(struct decoding *at)
{
	uint64_t value = UINT64_MAX; /* not an integer of the wire */
	if (!decode_number(at, &value))
		return false;
	*(uint64_t *)field(at) = value;
	return true;
}

static bool decode_optional(struct decoding *at)
{
	struct optional_uint *optional = field(at);
	if (reader_nil(&at->reader)) {
		optional->has = false;
		return true;
	}
	uint64_t value = UINT64_MAX;
	if (!decode_number(at, &value))
		return false;
	*optional = (struct optional_uint){.value = value, .has = true};
	return true;
}

static bool decode_bool(struct decoding *at)
{
	return reader_bool(&at->reader, field(at)) || wrong_type(at, "true or false");
}

static bool decode_choice(struct decoding *at)
{
	struct view text;
	if (!reader_str(&at->reader, &text))
		return wrong_type(at, "text");
	char allowed[128] = "";
	for (int i = 0; at->row->choices[i]; i++) {
		if (view_equals(text, at->row->choices[i])) {
			*(int *)field(at) = i;
			return true;
		}
		size_t used = strlen(allowed);
		snprintf(allowed + used, sizeof allowed - used, "%s\"%s\"", i ? ", " : "", at->row->choices[i]);
	}
	return fail(at, CODE_INVALID_PARAMS, "`%s` must be one of %s", at->row->name, allowed);
}

static bool decode_bytes(struct decoding *at)
{
	struct view *bytes = field(at);
	if (!reader_bin(&at->reader, bytes))
		return wrong_type(at, "bytes (bin)");
	if (bytes->length > at->row->most)
		return fail(at, CODE_TOO_LARGE, "`%s` may have at most %llu bytes; it has %u", at->row->name,
		            (unsigned long long)at->row->most, bytes->length);
	return true;
}

static bool decode_uints(struct decoding *at)
{
	struct uint_list *list = field(at);
	uint32_t count;
	if (reader_nil(&at->reader))
		return true;
	if (!reader_array(&at->reader, &count))
		return wrong_type(at, "a list of integers, or nil");
	if (count > at->row->most)
		return fail(at, CODE_TOO_LARGE, "`%s` may have at most %llu entries", at->row->name,
		            (unsigned long long)at->row->most);
	list->values = arena_take(at->arena, count * sizeof *list->values);
	list->count = count;
	for (uint32_t i = 0; i < count; i++) {
		uint64_t value;
		if (!reader_uint(&at->reader, &value) || value > UINT32_MAX)
			return wrong_type(at, "a list of integers below 2^32");
		list->values[i] = (uint32_t)value;
	}
	return true;
}

/* One string of an argument list or an environment: text or bytes, as long as the kernel takes. */
static bool read_string(struct decoding *at, struct view *string)
{
	if (!reader_str(&at->reader, string) && !reader_bin(&at->reader, string))
		return wrong_type(at, "text or bytes");
	if (string->length > LIMIT_ARGUMENT_BYTES)
		return fail(at, CODE_LIMIT, "an entry of `%s` may have at most %d bytes; it has %u", at->row->name,
		            LIMIT_ARGUMENT_BYTES, string->length);
	if (memchr(string->data, '\0', string->length))
		return fail(at, CODE_INVALID_PARAMS, "`%s` may not hold a NUL byte", at->row->name);
	return true;
}

/* A block for COUNT pointers, with the texts' BYTES behind them. */
static char **take_strings(struct decoding *at, uint32_t count, size_t bytes, char **text)
{
	char **strings = arena_take(at->arena, (count + 1) * sizeof *strings + bytes);
	*text = (char *)(strings + count + 1);
	*(char ***)field(at) = strings;
	return strings;
}

static char *put_view(char **text, struct view view, char end)
{
	char *at = *text;
	memcpy(at, view.data, view.length);
	at[view.length] = end;
	*text += view.length + 1;
	return at;
}

static bool decode_strings(struct decoding *at)
{
	const struct param *row = at->row;
	uint32_t count;
	if (!reader_array(&at->reader, &count))
		return wrong_type(at, "a list of texts");
	if (count < row->least || count > row->most)
		return fail(at, count > row->most ? CODE_LIMIT : CODE_INVALID_PARAMS, "`%s` must have %llu...%llu entries",
		            row->name, (unsigned long long)row->least, (unsigned long long)row->most);
	size_t bytes = (size_t)(at->reader.end - at->reader.at) + count;
	char *text;
	char **strings = take_strings(at, count, bytes, &text);
	for (uint32_t i = 0; i < count; i++) {
		struct view string;
		if (!read_string(at, &string))
			return false;
		strings[i] = put_view(&text, string, '\0');
	}
	return true;
}

static bool decode_env(struct decoding *at)
{
	const struct param *row = at->row;
	uint32_t count;
	if (!reader_map(&at->reader, &count))
		return wrong_type(at, "a map of texts");
	if (count > row->most)
		return fail(at, CODE_LIMIT, "`%s` may have at most %llu entries", row->name, (unsigned long long)row->most);
	size_t bytes = (size_t)(at->reader.end - at->reader.at) + 2 * (size_t)count;
	char *text;
	char **strings = take_strings(at, count, bytes, &text);
	for (uint32_t i = 0; i < count; i++) {
		struct view name, value;
		if (!reader_str(&at->reader, &name))
			return wrong_type(at, "a map of texts");
		if (name.length == 0 || memchr(name.data, '=', name.length) || memchr(name.data, '\0', name.length))
			return fail(at, CODE_INVALID_PARAMS, "a name in `%s` may not be empty nor hold `=` or NUL", row->name);
		if (!read_string(at, &value))
			return false;
		if (name.length + value.length + 1 > LIMIT_ARGUMENT_BYTES)
			return fail(at, CODE_LIMIT, "an entry of `%s` may have at most %d bytes", row->name, LIMIT_ARGUMENT_BYTES);
		strings[i] = put_view(&text, name, '=');
		put_view(&text, value, '\0');
	}
	return true;
}

/* One name or text of a context. */
static bool read_note(struct decoding *at, struct view *text, size_t least, size_t most)
{
	if (!reader_str(&at->reader, text))
		return wrong_type(at, "a map of texts");
	if (text->length < least || text->length > most || memchr(text->data, '\0', text->length))
		return fail(at, text->length > most ? CODE_TOO_LARGE : CODE_INVALID_PARAMS,
		            "a name in `%s` has 1...%d bytes, a text at most %d, neither holds NUL", at->row->name,
		            CONTEXT_NAME_BYTES, CONTEXT_TEXT_BYTES);
	return true;
}

static bool decode_context(struct decoding *at)
{
	const struct param *row = at->row;
	uint32_t count;
	if (!reader_map(&at->reader, &count))
		return wrong_type(at, "a map of texts");
	if (count > CONTEXT_ENTRIES)
		return fail(at, CODE_TOO_LARGE, "`%s` may have at most %d entries", row->name, CONTEXT_ENTRIES);
	char *text;
	size_t used = 0;
	char **strings = take_strings(at, 2 * count, row->most + 2 * (size_t)count, &text);
	for (uint32_t i = 0; i < 2 * count; i++) {
		struct view note;
		if (!read_note(at, &note, i % 2 == 0, i % 2 == 0 ? CONTEXT_NAME_BYTES : CONTEXT_TEXT_BYTES))
			return false;
		used += note.length;
		if (used > row->most)
			return fail(at, CODE_TOO_LARGE, "`%s` may have at most %llu bytes in all", row->name,
			            (unsigned long long)row->most);
		strings[i] = put_view(&text, note, '\0');
	}
	return true;
}

static bool decode_map(struct decoding *at)
{
	bool *has = (bool *)(at->into + at->row->has_offset);
	if (!at->row->required && reader_nil(&at->reader))
		return true;
	if (reader_type(&at->reader) != VALUE_MAP)
		return wrong_type(at, "a map");
	if (!params_decode(at->reader, at->row->fields, at->into, at->arena, at->error))
		return false;
	*has = true;
	return reader_skip(&at->reader);
}

static bool (*const decoders[])(struct decoding *at) = {
	[PARAM_PATH] = decode_path,         [PARAM_TEXT] = decode_text,       [PARAM_UINT] = decode_uint,
	[PARAM_OPTIONAL] = decode_optional, [PARAM_BOOL] = decode_bool,       [PARAM_CHOICE] = decode_choice,
	[PARAM_BYTES] = decode_bytes,       [PARAM_STRINGS] = decode_strings, [PARAM_ENV] = decode_env,
	[PARAM_CONTEXT] = decode_context,   [PARAM_UINTS] = decode_uints,     [PARAM_MAP] = decode_map,
};

static bool unknown_key(struct decoding *at, const struct param *rows, struct view key)
{
	char allowed[PARAMS_TEXT_BYTES * 2 / 3] = "";
	for (const struct param *row = rows; row->name; row++) {
		size_t used = strlen(allowed);
		snprintf(allowed + used, sizeof allowed - used, "%s%s", row == rows ? "" : ", ", row->name);
	}
	at->row = NULL;
	return fail(at, CODE_INVALID_PARAMS, "there is no parameter `%.*s`; there are: %s",
	            (int)(key.length < LIMIT_NAME_BYTES ? key.length : LIMIT_NAME_BYTES), key.data,
	            allowed[0] ? allowed : "none");
}

static bool check_required(struct decoding *at, const struct param *rows, uint64_t seen)
{
	for (size_t i = 0; rows[i].name; i++) {
		if (!rows[i].required || (seen >> i & 1))
			continue;
		at->row = &rows[i];
		return fail(at, CODE_INVALID_PARAMS, "`%s` is missing", rows[i].name);
	}
	return true;
}

bool params_decode(struct reader reader, const struct param *rows, void *into, struct arena *arena,
                   struct params_error *error)
{
	struct decoding at = {.reader = reader, .into = into, .arena = arena, .error = error};
	uint32_t count = 0;
	uint64_t seen = 0;
	if (reader_type(&reader) != VALUE_END && !reader_map(&at.reader, &count))
		return fail(&at, CODE_INVALID_PARAMS, "the parameters must be one map");
	for (uint32_t i = 0; i < count; i++) {
		struct view key;
		if (!reader_str(&at.reader, &key))
			return fail(&at, CODE_INVALID_PARAMS, "the names of parameters must be text");
		const struct param *row = rows;
		while (row->name && !view_equals(key, row->name))
			row++;
		if (!row->name)
			return unknown_key(&at, rows, key);
		at.row = row;
		seen |= UINT64_C(1) << (row - rows);
		if (!decoders[row->type](&at))
			return false;
	}
	return check_required(&at, rows, seen);
}
