#include "profile.h"

#include <stddef.h>
#include <string.h>

static const char *const names[PROFILES] = {
#define PROFILE(name, text, summary) [PROFILE_##name] = text,
	PROFILE_TABLE(PROFILE)
#undef PROFILE
};

const char *profile_name(enum profile profile)
{
	return (size_t)profile < PROFILES ? names[profile] : NULL;
}

int profile_find(const char *name)
{
	for (int i = 0; i < PROFILES; i++)
		if (strcmp(names[i], name) == 0)
			return i;
	return -1;
}
