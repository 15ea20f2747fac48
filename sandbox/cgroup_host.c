/*
 * cgroup_host.c: what the host gives, found once. Hierarchies in which no directory can be made are left out, and the
 * driver follows from what remains.
 *
 * On v2 a cgroup that hands controllers on may hold no process of its own, save the root. So where it must, the
 * server moves itself into PARENT/server; if other processes are beside it (a login's scope), root takes the top of
 * the hierarchy instead, and everybody else does without the controllers.
 */
#include "cgroup.h"
#include "cgroup_file.h"
#include "cgroup_mounts.h"
#include "cgroup_tree.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct controller_row {
	const char *name;
	bool v2; /* exists there */
};

static const struct controller_row controllers[CGROUP_CONTROLLERS] = {
	[CGROUP_UNIFIED] = {"", true}, [CGROUP_MEMORY] = {"memory", true},    [CGROUP_PIDS] = {"pids", true},
	[CGROUP_CPU] = {"cpu", true},  [CGROUP_CPUACCT] = {"cpuacct", false}, [CGROUP_FREEZER] = {"freezer", false},
};

/* A hierarchy in which PARENT cannot be made, or is another user's, is none for us. */
static int open_hierarchy(struct cgroup_hierarchy *hierarchy, const char *path, const char *name)
{
	int length = snprintf(hierarchy->path, sizeof hierarchy->path, "%s/%s", path, name);
	if (length < 0 || (size_t)length >= sizeof hierarchy->path)
		return -1;
	hierarchy->parent = -1;
	hierarchy->own = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (hierarchy->own < 0)
		return -1;
	if (mkdirat(hierarchy->own, name, 0755) == 0 || errno == EEXIST) {
		hierarchy->parent = openat(hierarchy->own, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (hierarchy->parent >= 0 && faccessat(hierarchy->parent, ".", W_OK | X_OK, AT_EACCESS) == 0)
			return 0;
	}
	if (hierarchy->parent >= 0)
		close(hierarchy->parent);
	close(hierarchy->own);
	return -1;
}

static void close_hierarchy(struct cgroup_hierarchy *hierarchy, const char *name)
{
	close(hierarchy->parent);
	unlinkat(hierarchy->own, name, AT_REMOVEDIR);
	close(hierarchy->own);
}

/* 0, or the errno of handing CONTROLLER on to the children of the own cgroup and of PARENT. */
static int enable(const struct cgroup_hierarchy *hierarchy, const char *controller)
{
	char text[32];
	struct error err;
	snprintf(text, sizeof text, "+%s", controller);
	if (cgroup_write(hierarchy->own, "cgroup.subtree_control", text, &err) < 0 ||
	    cgroup_write(hierarchy->parent, "cgroup.subtree_control", text, &err) < 0)
		return err.errnum;
	return 0;
}

static bool move_aside(struct cgroup_host *host, const struct cgroup_hierarchy *hierarchy)
{
	if (mkdirat(hierarchy->parent, "server", 0755) < 0 && errno != EEXIST)
		return false;
	return host->moved = cgroup_write(hierarchy->parent, "server/cgroup.procs", "0", NULL) == 0;
}

static void move_back(struct cgroup_host *host, const struct cgroup_hierarchy *hierarchy)
{
	/* A cgroup with controllers below it takes no process: they go first. */
	cgroup_write(hierarchy->own, "cgroup.procs", "0", NULL);
	unlinkat(hierarchy->parent, "server", AT_REMOVEDIR);
	host->moved = false;
}

static bool has_word(const char *text, const char *word)
{
	size_t length = strlen(word);
	for (const char *at = strstr(text, word); at; at = strstr(at + 1, word))
		if ((at == text || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\n' || at[length] == '\0'))
			return true;
	return false;
}

/* Take the controllers that v2 has. Returns EBUSY if processes stand in the way, else 0. */
static int take_v2_controllers(struct cgroup_host *host, int index)
{
	struct cgroup_hierarchy *hierarchy = &host->hierarchies[index];
	char available[256];
	if (cgroup_read(hierarchy->own, "cgroup.controllers", available, sizeof available, NULL) < 0)
		return 0;
	for (int i = CGROUP_MEMORY; i < CGROUP_CONTROLLERS; i++) {
		if (!controllers[i].v2 || !has_word(available, controllers[i].name))
			continue;
		int errnum = enable(hierarchy, controllers[i].name);
		if (errnum == EBUSY && !host->moved && move_aside(host, hierarchy))
			errnum = enable(hierarchy, controllers[i].name);
		if (errnum == EBUSY)
			return EBUSY;
		if (errnum == 0) {
			hierarchy->controllers |= 1u << i;
			host->where[i] = index;
		}
	}
	return 0;
}

static void add_v2(struct cgroup_host *host)
{
	char path[CGROUP_PATH_BYTES];
	struct cgroup_hierarchy *hierarchy = &host->hierarchies[0];
	*hierarchy = (struct cgroup_hierarchy){.v2 = true, .controllers = 1u << CGROUP_UNIFIED};
	if (!cgroup_mounts_find("", false, path) || open_hierarchy(hierarchy, path, host->name) < 0)
		return;
	host->count = 1;
	host->where[CGROUP_UNIFIED] = 0;
	if (take_v2_controllers(host, 0) != EBUSY)
		return;
	struct cgroup_hierarchy top = {.v2 = true, .controllers = 1u << CGROUP_UNIFIED};
	if (host->moved)
		move_back(host, hierarchy);
	if (!cgroup_mounts_find("", true, path) || open_hierarchy(&top, path, host->name) < 0)
		return;
	close_hierarchy(hierarchy, host->name);
	*hierarchy = top;
	take_v2_controllers(host, 0);
}

/* Several controllers may be mounted together (cpu,cpuacct): then they share one hierarchy. */
static int find_hierarchy(const struct cgroup_host *host, const char *path)
{
	size_t length = strlen(path);
	for (unsigned i = 0; i < host->count; i++) {
		const char *own = host->hierarchies[i].path;
		if (strncmp(own, path, length) == 0 && own[length] == '/' && strcmp(own + length + 1, host->name) == 0)
			return (int)i;
	}
	return -1;
}

static void add_v1(struct cgroup_host *host, enum cgroup_controller controller)
{
	char path[CGROUP_PATH_BYTES];
	if (!cgroup_mounts_find(controllers[controller].name, false, path))
		return;
	int index = find_hierarchy(host, path);
	if (index < 0) {
		if (host->count == CGROUP_HIERARCHIES)
			return;
		struct cgroup_hierarchy *hierarchy = &host->hierarchies[host->count];
		*hierarchy = (struct cgroup_hierarchy){0};
		if (open_hierarchy(hierarchy, path, host->name) < 0)
			return;
		index = (int)host->count++;
	}
	host->hierarchies[index].controllers |= 1u << controller;
	host->where[controller] = index;
}

/* v2 frees us from v1's freezer and processor accounting. */
static void add_v1_controllers(struct cgroup_host *host)
{
	int last = host->where[CGROUP_UNIFIED] >= 0 ? CGROUP_CPU : CGROUP_FREEZER;
	for (int i = CGROUP_MEMORY; i <= last; i++)
		if (host->where[i] < 0)
			add_v1(host, (enum cgroup_controller)i);
}

/* v1 is of use only where a leaf can have a directory; then its cgroup.procs tells who lives in it. */
static const struct cgroup_driver *choose(const struct cgroup_host *host)
{
	if (host->where[CGROUP_UNIFIED] >= 0)
		return host->count > 1 ? &cgroup_hybrid : &cgroup_v2;
	bool leaves = host->where[CGROUP_MEMORY] >= 0 || host->where[CGROUP_CPUACCT] >= 0;
	return leaves ? &cgroup_v1 : &cgroup_none;
}

static void close_all(struct cgroup_host *host)
{
	for (unsigned i = 0; i < host->count; i++)
		close_hierarchy(&host->hierarchies[i], host->name);
	host->count = 0;
	for (int i = 0; i < CGROUP_CONTROLLERS; i++)
		host->where[i] = -1;
}

static void describe(struct cgroup_host *host)
{
	if (host->driver == &cgroup_none) {
		snprintf(host->detail, sizeof host->detail,
		         "no cgroup can be made below the own one: not writable, or not mounted");
		return;
	}
	size_t used = (size_t)snprintf(host->detail, sizeof host->detail, "%s:%s", host->driver->name,
	                               host->where[CGROUP_UNIFIED] >= 0 ? " v2 kill freeze" : "");
	for (int i = CGROUP_MEMORY; i < CGROUP_CONTROLLERS && used < sizeof host->detail; i++)
		if (host->where[i] >= 0)
			used += (size_t)snprintf(host->detail + used, sizeof host->detail - used, " %s-%s",
			                         host->hierarchies[host->where[i]].v2 ? "v2" : "v1", controllers[i].name);
}

void cgroup_host_init(struct cgroup_host *host, const char *name)
{
	*host = (struct cgroup_host){0};
	for (int i = 0; i < CGROUP_CONTROLLERS; i++)
		host->where[i] = -1;
	snprintf(host->name, sizeof host->name, "%s", name);
	add_v2(host);
	add_v1_controllers(host);
	host->driver = choose(host);
	if (host->driver == &cgroup_none)
		close_all(host);
	for (unsigned i = 0; i < host->count; i++)
		host->hierarchies[i].has_leaves = (host->hierarchies[i].controllers & host->driver->leaf_controllers) != 0;
	describe(host);
}

static void release_v2(struct cgroup_host *host)
{
	struct cgroup_hierarchy *hierarchy = &host->hierarchies[host->where[CGROUP_UNIFIED]];
	for (int i = CGROUP_MEMORY; host->moved && i < CGROUP_CONTROLLERS; i++) {
		char text[32];
		snprintf(text, sizeof text, "-%s", controllers[i].name);
		if (hierarchy->controllers & 1u << i) {
			cgroup_write(hierarchy->parent, "cgroup.subtree_control", text, NULL);
			cgroup_write(hierarchy->own, "cgroup.subtree_control", text, NULL);
		}
	}
	if (host->moved)
		move_back(host, hierarchy);
}

void cgroup_host_finish(struct cgroup_host *host)
{
	if (host->where[CGROUP_UNIFIED] >= 0)
		release_v2(host);
	close_all(host);
}
