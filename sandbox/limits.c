#include "limits.h"

#include "limit_bounds.h"

#include <stddef.h>

struct limits_row {
	size_t offset;
	bool wide; /* uint64_t, else uint32_t */
	uint64_t standard, least;
	uint64_t most;
	const char *complaint;
};

#define WIDE(field) offsetof(struct sandbox_limits, field), true
#define NARROW(field) offsetof(struct sandbox_limits, field), false

static const struct limits_row rows[] = {
#define SESSION_LIMIT(field, width, standard, allowed, ...) \
	{width(field), standard, LIMIT_LEAST_##field, LIMIT_MOST_##field, allowed},
#define PROCESS_LIMIT(...)
#define TENANT_LIMIT(...)
#include "limits.def"
#undef SESSION_LIMIT
#undef PROCESS_LIMIT
#undef TENANT_LIMIT
	{NARROW(profile), PROFILE_DEFAULT, 0, PROFILES - 1, "profile: there is none of this number"},
	{NARROW(own_time), 0, 0, 1, "own_time: 0 or 1 is allowed"},
	{NARROW(user), INNER_USER_PLAIN, 0, INNER_USERS - 1, "user: there is none of this number"},
};

enum { ROWS = sizeof rows / sizeof rows[0] };

struct sandbox_limits sandbox_limits_default(void)
{
	struct sandbox_limits limits = {0};
	for (size_t i = 0; i < ROWS; i++) {
		void *field = (char *)&limits + rows[i].offset;
		if (rows[i].wide)
			*(uint64_t *)field = rows[i].standard;
		else
			*(uint32_t *)field = (uint32_t)rows[i].standard;
	}
	return limits;
}

static uint64_t value_of(const struct sandbox_limits *limits, const struct limits_row *row)
{
	const void *field = (const char *)limits + row->offset;
	return row->wide ? *(const uint64_t *)field : *(const uint32_t *)field;
}

const char *sandbox_limits_check(const struct sandbox_limits *limits)
{
	for (size_t i = 0; i < ROWS; i++) {
		uint64_t value = value_of(limits, &rows[i]);
		if (value < rows[i].least || value > rows[i].most)
			return rows[i].complaint;
	}
	return NULL;
}

bool sandbox_limits_are_equal(const struct sandbox_limits *one, const struct sandbox_limits *other)
{
	for (size_t i = 0; i < ROWS; i++)
		if (value_of(one, &rows[i]) != value_of(other, &rows[i]))
			return false;
	return true;
}
