/*
 * cgroup_hybrid.c: an empty v2 tree beside v1 controllers. v2 needs no controller to kill, freeze, tell events and
 * count processor time; the limits, and the memory counters, are v1's.
 */
#include "cgroup_driver.h"

static int usage_of(const struct cgroup_group *leaf, struct process_usage *usage, struct error *err)
{
	(void)err;
	cgroup_v2_cpu_usage(leaf, usage);
	cgroup_v1_memory_usage(leaf, usage);
	return 0;
}

static void measure(const struct cgroup_group *work, struct sandbox_usage *usage)
{
	cgroup_v2_measure_cpu(work, usage);
	cgroup_v1_measure_memory(work, usage);
}

const struct cgroup_driver cgroup_hybrid = {
	.name = "hybrid",
	.leaf_controllers = 1u << CGROUP_UNIFIED | 1u << CGROUP_MEMORY,
	.limit = cgroup_v1_limit,
	.weigh = cgroup_v1_weigh,
	.prepare_leaf = cgroup_v1_prepare_leaf,
	.kill = cgroup_v2_kill,
	.is_empty = cgroup_v2_is_empty,
	.events_fd = cgroup_v2_events_fd,
	.usage = usage_of,
	.measure = measure,
	.freeze = cgroup_v2_freeze,
};
