#include "cgroup.h"
#include "cgroup_file.h"
#include "cgroup_tree.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LEAF_NAME_BYTES = 16 };

int cgroup_dir(const struct cgroup_group *group, enum cgroup_controller controller)
{
	int index = group->host->where[controller];
	return index < 0 ? -1 : group->dirs[index];
}

static void group_init(struct cgroup_group *group, const struct cgroup_host *host)
{
	group->host = host;
	group->events = -1;
	for (int i = 0; i < CGROUP_HIERARCHIES; i++)
		group->dirs[i] = -1;
}

static void group_finish(struct cgroup_group *group)
{
	for (int i = 0; i < CGROUP_HIERARCHIES; i++)
		if (group->dirs[i] >= 0)
			close(group->dirs[i]);
	if (group->events >= 0)
		close(group->events);
	group_init(group, group->host);
}

static int make_dir(int above, const char *name, int *dir, struct error *err)
{
	if (mkdirat(above, name, 0755) < 0)
		return error_set(err, errno, "make cgroup `%s`", name);
	*dir = openat(above, name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (*dir >= 0)
		return 0;
	error_set(err, errno, "open cgroup `%s`", name);
	unlinkat(above, name, AT_REMOVEDIR);
	return -1;
}

/* Hand the controllers of HIERARCHY (v2) on to DIR's children. */
static int hand_on(const struct cgroup_hierarchy *hierarchy, int dir, struct error *err)
{
	static const char *const texts[] = {[CGROUP_MEMORY] = "+memory ", [CGROUP_PIDS] = "+pids ", [CGROUP_CPU] = "+cpu "};
	char text[64] = "";
	for (int i = CGROUP_MEMORY; i <= CGROUP_CPU; i++)
		if (hierarchy->controllers & 1u << i)
			strcat(text, texts[i]);
	return *text ? cgroup_write(dir, "cgroup.subtree_control", text, err) : 0;
}

/* Each hierarchy with a `work` costs every process a write to join it. Where the session's own group alone says how much
 * processor time it gets, they are born into that one, as init's children. */
static bool needs_work(const struct cgroup_hierarchy *hierarchy, const struct sandbox_limits *limits)
{
	return hierarchy->controllers != 1u << CGROUP_CPU || limits->cpu_percent > 0;
}

/* Init needs a group of its own only on v2, where no process may stand beside controllers; and there it makes the
 * whole session one thing to kill. On v1 it stands in the session's own. */
static int make_groups(struct cgroup_session *session, unsigned index, const struct sandbox_limits *limits,
                       struct error *err)
{
	const struct cgroup_hierarchy *hierarchy = &session->top.host->hierarchies[index];
	int *top = &session->top.dirs[index], *work = &session->work.dirs[index], *init = &session->init.dirs[index];
	if (make_dir(hierarchy->parent, session->name, top, err) < 0)
		return -1;
	if (!hierarchy->v2)
		return needs_work(hierarchy, limits) ? make_dir(*top, "work", work, err) : 0;
	if (hand_on(hierarchy, *top, err) < 0 || make_dir(*top, "work", work, err) < 0 ||
	    hand_on(hierarchy, *work, err) < 0)
		return -1;
	return make_dir(*top, "init", init, err);
}

int cgroup_session_create(struct cgroup_session *session, const struct cgroup_host *host, const char *name,
                          const struct sandbox_limits *limits, struct error *err)
{
	snprintf(session->name, sizeof session->name, "%s", name);
	group_init(&session->top, host);
	group_init(&session->init, host);
	group_init(&session->work, host);
	int result = 0;
	for (unsigned i = 0; result == 0 && i < host->count; i++)
		result = make_groups(session, i, limits, err);
	if (result == 0)
		result = host->driver->weigh(&session->top, limits->cpu_weight, err);
	if (result == 0)
		result = host->driver->limit(&session->work, limits, err);
	if (result < 0)
		cgroup_session_remove(session);
	return result;
}

bool cgroup_session_has_v1(const struct cgroup_session *session)
{
	for (unsigned i = 0; i < session->top.host->count; i++)
		if (!session->top.host->hierarchies[i].v2 && session->top.dirs[i] >= 0)
			return true;
	return false;
}

int cgroup_session_join_v1(const struct cgroup_session *session, pid_t pid, struct error *err)
{
	for (unsigned i = 0; i < session->top.host->count; i++)
		if (!session->top.host->hierarchies[i].v2 && session->top.dirs[i] >= 0 &&
		    cgroup_write_number(session->top.dirs[i], "cgroup.procs", (uint64_t)pid, err) < 0)
			return -1;
	return 0;
}

bool cgroup_session_remove(struct cgroup_session *session)
{
	const struct cgroup_host *host = session->top.host;
	bool gone = true;
	for (unsigned i = 0; i < host->count; i++)
		if (session->top.dirs[i] >= 0 && !cgroup_tree_remove(host->hierarchies[i].parent, session->name))
			gone = false;
	if (gone) {
		group_finish(&session->top);
		group_finish(&session->init);
		group_finish(&session->work);
	}
	return gone;
}

static void leaf_name(uint32_t process, char name[LEAF_NAME_BYTES])
{
	snprintf(name, LEAF_NAME_BYTES, "p%" PRIu32, process);
}

/* Where leaves have no directory, a process joins `work` itself. */
static int leaf_open(const struct cgroup_group *leaf, const struct cgroup_session *session, unsigned index,
                     struct error *err)
{
	int dir = leaf->host->hierarchies[index].has_leaves ? leaf->dirs[index] : session->work.dirs[index];
	int fd = openat(dir, "cgroup.procs", O_WRONLY | O_CLOEXEC);
	return fd >= 0 ? fd : error_set(err, errno, "open `cgroup.procs` of a leaf");
}

static int leaf_in_hierarchy(struct cgroup_group *leaf, const struct cgroup_session *session, unsigned index,
                             const char *name, int *fd, struct error *err)
{
	if (leaf->host->hierarchies[index].has_leaves &&
	    make_dir(session->work.dirs[index], name, &leaf->dirs[index], err) < 0)
		return -1;
	*fd = leaf_open(leaf, session, index, err);
	return *fd >= 0 ? 0 : error_prefix(err, "`%s`", name);
}

static void undo_leaf(struct cgroup_group *leaf, const struct cgroup_session *session, const char *name, int *fds,
                      int count)
{
	for (int i = 0; i < count; i++)
		close(fds[i]);
	for (unsigned i = 0; i < leaf->host->count; i++)
		if (leaf->dirs[i] >= 0)
			unlinkat(session->work.dirs[i], name, AT_REMOVEDIR);
	group_finish(leaf);
}

int cgroup_leaf_create(struct cgroup_group *leaf, const struct cgroup_session *session, uint32_t process, int fds[8],
                       struct error *err)
{
	const struct cgroup_host *host = session->work.host;
	char name[LEAF_NAME_BYTES];
	leaf_name(process, name);
	group_init(leaf, host);
	int count = 0;
	for (unsigned i = 0; i < host->count; i++) {
		if (session->work.dirs[i] < 0)
			continue;
		if (leaf_in_hierarchy(leaf, session, i, name, &fds[count], err) < 0) {
			undo_leaf(leaf, session, name, fds, count);
			return -1;
		}
		count++;
	}
	if (host->driver->prepare_leaf(leaf, err) < 0) {
		undo_leaf(leaf, session, name, fds, count);
		return -1;
	}
	return count;
}

int cgroup_leaf_open(const struct cgroup_group *leaf, const struct cgroup_session *session, int fds[8],
                     struct error *err)
{
	int count = 0;
	for (unsigned i = 0; i < leaf->host->count; i++) {
		if (session->work.dirs[i] < 0)
			continue;
		fds[count] = leaf_open(leaf, session, i, err);
		if (fds[count] < 0) {
			while (count > 0)
				close(fds[--count]);
			return -1;
		}
		count++;
	}
	return count;
}

int cgroup_leaf_remove(struct cgroup_group *leaf, const struct cgroup_session *session, uint32_t process,
                       struct error *err)
{
	char name[LEAF_NAME_BYTES];
	leaf_name(process, name);
	for (unsigned i = 0; i < leaf->host->count; i++)
		if (leaf->dirs[i] >= 0 && unlinkat(session->work.dirs[i], name, AT_REMOVEDIR) < 0 && errno != ENOENT)
			return error_set(err, errno, "remove cgroup leaf `%s`", name);
	group_finish(leaf);
	return 0;
}

void cgroup_leaf_finish(struct cgroup_group *leaf)
{
	group_finish(leaf);
}
