#include "limits.h"

#include <stdbool.h>
#include <stddef.h>

enum {
	MIB = 1024 * 1024,
	TASKS_MOST = 1 << 20,      /* below the kernel's own PID_MAX_LIMIT (4 Mi), which pids.max refuses to exceed */
	PERCENT_MOST = 100 * 1024, /* 1,024 cores */
};

struct limits_row {
	size_t offset;
	bool wide; /* uint64_t, else uint32_t */
	uint64_t standard, least;
	uint64_t most;
	const char *complaint;
};

#define PIB ((uint64_t)1 << 50) /* what is above is a mistake, not a limit */
#define WIDE(field) offsetof(struct sandbox_limits, field), true
#define NARROW(field) offsetof(struct sandbox_limits, field), false

static const struct limits_row rows[] = {
#define SESSION_LIMIT(field, width, standard, least, most, allowed, ...) {width(field), standard, least, most, allowed},
#define PROCESS_LIMIT(...)
#define TENANT_LIMIT(...)
#include "limits.def"
#undef SESSION_LIMIT
#undef PROCESS_LIMIT
#undef TENANT_LIMIT
	{NARROW(profile), PROFILE_DEFAULT, 0, PROFILES - 1, "profile: there is none of this number"},
	{NARROW(own_time), 0, 0, 1, "own_time: 0 or 1 is allowed"},
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

const char *sandbox_limits_check(const struct sandbox_limits *limits)
{
	for (size_t i = 0; i < ROWS; i++) {
		const void *field = (const char *)limits + rows[i].offset;
		uint64_t value = rows[i].wide ? *(const uint64_t *)field : *(const uint32_t *)field;
		if (value < rows[i].least || value > rows[i].most)
			return rows[i].complaint;
	}
	return NULL;
}
