#include "readable.h"

#include "escape.h"
#include "when.h"

#include <inttypes.h>
#include <string.h>

static void print_count(FILE *out, uint64_t number)
{
	fprintf(out, "%" PRIu64, number);
}

static void print_size(FILE *out, uint64_t bytes)
{
	static const char *const UNITS[] = {"bytes", "KiB", "MiB", "GiB"};
	size_t unit = 0;
	double size = (double)bytes;

	while (size >= 1024 && unit + 1 < sizeof(UNITS) / sizeof(UNITS[0])) {
		size /= 1024;
		unit++;
	}
	fprintf(out, size == (double)(uint64_t)size ? "%.0f %s" : "%.1f %s", size, UNITS[unit]);
}

static void print_span(FILE *out, uint64_t microseconds)
{
	char text[WHEN_BYTES];

	if (microseconds < 1000000) {
		fprintf(out, "%" PRIu64 "ms", microseconds / 1000);
		return;
	}
	when_span(microseconds, text);
	fputs(text, out);
}

static void print_span_of_ms(FILE *out, uint64_t milliseconds)
{
	print_span(out, milliseconds > UINT64_MAX / 1000 ? UINT64_MAX : milliseconds * 1000);
}

static void print_moment(FILE *out, uint64_t microseconds)
{
	uint64_t now = when_now();
	char text[WHEN_BYTES];

	when_format(microseconds, "never", text);
	fputs(text, out);
	if (microseconds == 0 || microseconds > now)
		return;
	when_span(now - microseconds, text);
	fprintf(out, ", %s ago", text);
}

static void print_age(FILE *out, uint64_t microseconds)
{
	print_span(out, microseconds);
	fputs(" after the beginning", out);
}

static void print_percent(FILE *out, uint64_t percent)
{
	fprintf(out, "%" PRIu64 "%% of a core", percent);
}

static void print_hundredths(FILE *out, uint64_t hundredths)
{
	fprintf(out, "%" PRIu64 ".%02" PRIu64 "%%", hundredths / 100, hundredths % 100);
}

/* The first row that fits says how. A `*` before a name's end stands for any beginning; NULL for any map. */
static const struct readable_row {
	const char *parent, *key;
	void (*print)(FILE *out, uint64_t number);
	const char *zero; /* what 0 means; NULL: it is a number like others */
} ROWS[] = {
	{"pressure", "*", print_hundredths, NULL},
	{"limits", "cpu", print_percent, "no limit"},
	{"limits", "memory", print_size, NULL},
	{"limits", "workspace", print_size, NULL},
	{"limits", "file_size", print_size, "no limit"},
	{"memory", "limit", print_size, "no limit"},
	{"memory", "used", print_size, NULL},
	{"*_bytes", "*", print_size, NULL},
	{"record", "limit", print_size, "no limit"},
	{NULL, "limit", print_count, "no limit"},
	{NULL, "bytes", print_size, NULL},
	{NULL, "*_bytes", print_size, NULL},
	{NULL, "created_us", print_moment, NULL},
	{NULL, "ended_us", print_moment, NULL},
	{NULL, "at_us", print_age, NULL},
	{NULL, "ttl_ms", print_span_of_ms, "no limit"},
	{NULL, "*_ms", print_span_of_ms, NULL},
	{NULL, "*", print_count, NULL},
};

static bool fits(const char *pattern, struct view name)
{
	if (!pattern)
		return true;
	if (pattern[0] != '*')
		return view_equals(name, pattern);
	size_t length = strlen(pattern + 1);
	return name.length >= length && memcmp(name.data + name.length - length, pattern + 1, length) == 0;
}

void readable_number(FILE *out, struct view parent, struct view key, uint64_t number)
{
	const struct readable_row *row = ROWS;

	while (!fits(row->parent, parent) || !fits(row->key, key))
		row++;
	if (number == 0 && row->zero)
		fputs(row->zero, out);
	else
		row->print(out, number);
}

void readable_key(FILE *out, struct view key)
{
	static const char *const UNITS[] = {"*_us", "*_ms", "*_bytes"};
	size_t length = key.length;

	for (size_t i = 0; i < sizeof(UNITS) / sizeof(UNITS[0]); i++)
		if (fits(UNITS[i], key))
			length = key.length - strlen(UNITS[i] + 1);
	escape_print(out, key.data, length);
}
