#include "environment.h"

#include <stdlib.h>
#include <string.h>

static const char *const fixed[] = {
	"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
	"HOME=/work",
	"USER=", /* these two: of the row below */
	"LOGNAME=",
	"LANG=C.UTF-8",
	"TZ=UTC",
	"TERM=xterm-256color", /* the last one: only with a terminal */
};
enum { FIXED = sizeof fixed / sizeof *fixed };

static const char *const names[INNER_USERS][3] = {
#define INNER_USER(name, text, id) [INNER_USER_##name] = {"USER=" text, "LOGNAME=" text, NULL},
	INNER_USER_TABLE(INNER_USER)
#undef INNER_USER
};

static size_t count_of(const char *const *entries)
{
	size_t count = 0;
	while (entries && entries[count])
		count++;
	return count;
}

static void put(const char **environment, size_t *count, const char *entry)
{
	size_t name = strcspn(entry, "=") + 1;
	for (size_t i = 0; i < *count; i++) {
		if (strncmp(environment[i], entry, name) == 0) {
			environment[i] = entry;
			return;
		}
	}
	environment[(*count)++] = entry;
}

const char **environment_create(enum inner_user user, char *const *base, const char *const *over, bool terminal)
{
	const char *const *layers[] = {names[user], (const char *const *)base, over};
	size_t most = FIXED + count_of(layers[1]) + count_of(layers[2]) + 1, count = 0;
	const char **environment = calloc(most, sizeof *environment);
	if (!environment)
		abort();
	for (size_t i = 0; i < (terminal ? FIXED : FIXED - 1); i++)
		environment[count++] = fixed[i];
	for (size_t i = 0; i < sizeof layers / sizeof *layers; i++)
		for (const char *const *entry = layers[i]; entry && *entry; entry++)
			put(environment, &count, *entry);
	return environment;
}

void environment_destroy(const char **environment)
{
	free(environment);
}
