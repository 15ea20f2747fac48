/*
 * cgroup_none.c: no cgroup may be made (the usual case of a normal user). Init's subreapers kill trees instead, and
 * rlimits stand in for the limits.
 */
#include "cgroup_driver.h"

#include <errno.h>

static int refuse(struct error *err)
{
	return error_set(err, ENOSYS, "this host gives no cgroups");
}

static int limit(const struct cgroup_group *work, const struct sandbox_limits *limits, struct error *err)
{
	(void)work, (void)limits, (void)err;
	return 0;
}

static int weigh(const struct cgroup_group *top, uint32_t weight, struct error *err)
{
	(void)top, (void)weight, (void)err;
	return 0;
}

static int prepare_leaf(const struct cgroup_group *leaf, struct error *err)
{
	(void)leaf, (void)err;
	return 0;
}

static int kill_group(const struct cgroup_group *group, struct error *err)
{
	(void)group;
	return refuse(err);
}

static int is_empty(struct cgroup_group *group, struct error *err)
{
	(void)group;
	return refuse(err);
}

static int events_fd(struct cgroup_group *group)
{
	(void)group;
	return -1;
}

static int usage_of(const struct cgroup_group *leaf, struct process_usage *usage, struct error *err)
{
	(void)leaf, (void)usage;
	return refuse(err);
}

static void measure(const struct cgroup_group *work, struct sandbox_usage *usage)
{
	(void)work, (void)usage;
}

static int freeze(const struct cgroup_group *work, bool frozen, struct error *err)
{
	(void)work, (void)frozen;
	return refuse(err);
}

const struct cgroup_driver cgroup_none = {
	.name = "none",
	.limit = limit,
	.weigh = weigh,
	.prepare_leaf = prepare_leaf,
	.kill = kill_group,
	.is_empty = is_empty,
	.events_fd = events_fd,
	.usage = usage_of,
	.measure = measure,
	.freeze = freeze,
};
