/*
 * cgroup_sweep.c: what an earlier run left in PARENT. Its processes are dead with their keeper (PDEATHSIG), or about
 * to be: they are killed once more, and the directories go.
 */
#include "cgroup.h"
#include "cgroup_driver.h"
#include "cgroup_file.h"
#include "cgroup_tree.h"

#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { SWEEP_ROUNDS = 500, SWEEP_PAUSE_NS = 10 * 1000 * 1000 };

struct sweep {
	const struct cgroup_hierarchy *hierarchy;
	unsigned found, left;
};

static void end_group(int dir, void *context)
{
	(void)context;
	if (cgroup_write(dir, "cgroup.kill", "1", NULL) < 0)
		cgroup_kill_each(dir, NULL);
	cgroup_write(dir, "freezer.state", "THAWED", NULL);
}

static void end_session(const char *name, void *context)
{
	struct sweep *sweep = context;
	if (strcmp(name, "server") == 0)
		return;
	sweep->found++;
	int dir = openat(sweep->hierarchy->parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir >= 0) {
		end_group(dir, NULL);
		cgroup_tree_walk(dir, end_group, NULL);
		close(dir);
	}
	if (!cgroup_tree_remove(sweep->hierarchy->parent, name))
		sweep->left++;
}

int cgroup_host_sweep(struct cgroup_host *host, struct error *err)
{
	unsigned most = 0;
	for (unsigned i = 0; i < host->count; i++) {
		struct sweep sweep = {.hierarchy = &host->hierarchies[i]};
		cgroup_tree_names(sweep.hierarchy->parent, end_session, &sweep);
		most = sweep.found > most ? sweep.found : most;
		for (int round = 0; sweep.left > 0 && round < SWEEP_ROUNDS; round++) {
			nanosleep(&(struct timespec){.tv_nsec = SWEEP_PAUSE_NS}, NULL);
			sweep.found = sweep.left = 0;
			cgroup_tree_names(sweep.hierarchy->parent, end_session, &sweep);
		}
		if (sweep.left > 0)
			return error_set(err, 0, "%u cgroups in `%s` do not become empty", sweep.left, sweep.hierarchy->path);
	}
	return (int)most;
}
