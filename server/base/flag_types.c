#include "flags.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

struct unit {
	const char *suffix;
	uint64_t factor;
};

static const struct unit no_units[] = {{"", 1}, {NULL, 0}};
static const struct unit byte_units[] = {{"", 1}, {"K", 1u << 10}, {"M", 1u << 20}, {"G", 1u << 30}, {NULL, 0}};
static const struct unit time_units[] = {{"ms", 1},      {"s", 1000},     {"m", 60000},
                                         {"h", 3600000}, {"d", 86400000}, {NULL, 0}};

static const struct unit *find_unit(const struct unit *units, const char *suffix)
{
	for (; units->suffix; units++)
		if (strcmp(units->suffix, suffix) == 0)
			return units;
	return NULL;
}

/* Digits and a unit; false if it is anything else, or over 64 bits. strtoull would take signs and spaces. */
static bool scan(const char *text, const struct unit *units, uint64_t *value)
{
	size_t digits = strspn(text, "0123456789");
	const struct unit *unit = find_unit(units, text + digits);
	bool zero = digits == 1 && text[0] == '0' && text[1] == '\0'; /* 0 needs no unit */
	*value = 0;
	if (digits == 0 || (!unit && !zero))
		return false;
	for (size_t i = 0; i < digits; i++)
		if (__builtin_mul_overflow(*value, UINT64_C(10), value) ||
		    __builtin_add_overflow(*value, (uint64_t)(text[i] - '0'), value))
			return false;
	return zero || !__builtin_mul_overflow(*value, unit->factor, value);
}

static bool scan_in_range(const struct flag *flag, const char *text, const struct unit *units, void *field)
{
	uint64_t value;
	if (!scan(text, units, &value) || value < flag->least || value > flag->most)
		return false;
	*(uint64_t *)field = value;
	return true;
}

int flag_switch(const struct flag *flag, const char *text, void *field, struct error *err)
{
	(void)flag, (void)text, (void)err;
	*(bool *)field = true;
	return 0;
}

int flag_text(const struct flag *flag, const char *text, void *field, struct error *err)
{
	if (*text == '\0')
		return error_set(err, 0, "an empty %s is not allowed", flag->argument);
	*(const char **)field = text;
	return 0;
}

int flag_number(const struct flag *flag, const char *text, void *field, struct error *err)
{
	if (scan_in_range(flag, text, no_units, field))
		return 0;
	return error_set(err, 0, "`%.100s` is not a number from %" PRIu64 " to %" PRIu64, text, flag->least, flag->most);
}

int flag_bytes(const struct flag *flag, const char *text, void *field, struct error *err)
{
	if (scan_in_range(flag, text, byte_units, field))
		return 0;
	return error_set(err, 0,
	                 "`%.100s` is not a number of bytes from %" PRIu64 " to %" PRIu64 ", such as 4194304, 4096K or 4M",
	                 text, flag->least, flag->most);
}

int flag_duration(const struct flag *flag, const char *text, void *field, struct error *err)
{
	if (scan_in_range(flag, text, time_units, field))
		return 0;
	return error_set(
		err, 0, "`%.100s` is not a duration from %" PRIu64 " ms to %" PRIu64 " ms, such as 500ms, 90s, 30m, 8h or 7d",
		text, flag->least, flag->most);
}

int flag_choice(const struct flag *flag, const char *text, void *field, struct error *err)
{
	char allowed[128] = "";
	size_t length = 0;
	for (unsigned i = 0; flag->choices[i]; i++) {
		if (strcmp(flag->choices[i], text) == 0) {
			*(unsigned *)field = i;
			return 0;
		}
		if (length < sizeof allowed)
			length += (size_t)snprintf(allowed + length, sizeof allowed - length, "%s%s", i ? ", " : "",
			                           flag->choices[i]);
	}
	return error_set(err, 0, "`%.100s` is not one of: %s", text, allowed);
}
