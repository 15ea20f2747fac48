/*
 * landlock_inside.c: the hierarchies of a sandbox's root, and what its processes may do there.
 */
#include "landlock.h"

#include <string.h>

/* A row holds for all that is below its path, together with the rows above it. What a host does not have, or has as a
 * link into another row (merged /usr), is passed over. */
static const struct landlock_rule rules[] = {
	{"/", -1, LANDLOCK_LIST},
	{"/usr", -1, LANDLOCK_RUN},
	{"/bin", -1, LANDLOCK_RUN},
	{"/sbin", -1, LANDLOCK_RUN},
	{"/lib", -1, LANDLOCK_RUN},
	{"/lib32", -1, LANDLOCK_RUN},
	{"/lib64", -1, LANDLOCK_RUN},
	{"/libx32", -1, LANDLOCK_RUN},
	{"/etc", -1, LANDLOCK_READ},
	{"/var", -1, LANDLOCK_READ},
	{"/work", -1, LANDLOCK_OWN},
	{"/tmp", -1, LANDLOCK_OWN},
	{"/var/tmp", -1, LANDLOCK_OWN},
	{"/run", -1, LANDLOCK_OWN},
	{"/dev/shm", -1, LANDLOCK_CHANGE},
	{"/dev/mqueue", -1, LANDLOCK_LIST | LANDLOCK_EDIT | LANDLOCK_FS(MAKE_REG) | LANDLOCK_FS(REMOVE_FILE)},
	{"/dev/pts", -1, LANDLOCK_LIST | LANDLOCK_DEVICE},
	{"/dev/null", -1, LANDLOCK_DEVICE},
	{"/dev/zero", -1, LANDLOCK_DEVICE},
	{"/dev/full", -1, LANDLOCK_DEVICE},
	{"/dev/random", -1, LANDLOCK_DEVICE},
	{"/dev/urandom", -1, LANDLOCK_DEVICE},
	{"/dev/tty", -1, LANDLOCK_DEVICE},
	/* A thread's name and the like are written there; what is the machine's, child_proc.c has made read-only. */
	{"/proc", -1, LANDLOCK_LIST | LANDLOCK_EDIT},
};

enum { RULES = sizeof rules / sizeof rules[0] };

int landlock_put_on(int proc)
{
	struct landlock_rule all[RULES + 1];
	memcpy(all, rules, sizeof rules);
	all[RULES] = (struct landlock_rule){.fd = proc, .rights = LANDLOCK_READ};
	return landlock_restrict(all, RULES + 1, false);
}
