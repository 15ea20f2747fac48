#include "profile.h"

#include <stddef.h>
#include <string.h>

static const struct {
	const char *name;
	const char *summary;
} rows[PROFILES] = {
#define PROFILE(name, text, summary) [PROFILE_##name] = {text, summary},
	PROFILE_TABLE(PROFILE)
#undef PROFILE
};

const char *profile_name(enum profile profile)
{
	return (size_t)profile < PROFILES ? rows[profile].name : NULL;
}

const char *profile_summary(enum profile profile)
{
	return (size_t)profile < PROFILES ? rows[profile].summary : NULL;
}

int profile_find(const char *name)
{
	for (int i = 0; i < PROFILES; i++)
		if (strcmp(rows[i].name, name) == 0)
			return i;
	return -1;
}
