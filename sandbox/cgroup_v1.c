#include "cgroup_driver.h"
#include "cgroup_file.h"

#include <errno.h>
#include <string.h>

enum { CPU_PERIOD_US = 100000, NANOSECONDS_A_MICROSECOND = 1000 };

/* memory.memsw may never be under memory.limit, so the order matters; it is missing without swap accounting. */
static int limit_memory(int dir, uint64_t bytes, struct error *err)
{
	if (cgroup_write_number(dir, "memory.limit_in_bytes", bytes, err) < 0)
		return -1;
	struct error swap;
	if (cgroup_write_number(dir, "memory.memsw.limit_in_bytes", bytes, &swap) < 0 && swap.errnum != ENOENT) {
		if (err)
			*err = swap;
		return -1;
	}
	return 0;
}

int cgroup_v1_limit(const struct cgroup_group *work, const struct sandbox_limits *limits, struct error *err)
{
	int memory = cgroup_dir(work, CGROUP_MEMORY);
	int pids = cgroup_dir(work, CGROUP_PIDS);
	int cpu = cgroup_dir(work, CGROUP_CPU);
	if (memory >= 0 && limit_memory(memory, limits->memory, err) < 0)
		return -1;
	if (pids >= 0 && cgroup_write_number(pids, "pids.max", limits->processes, err) < 0)
		return -1;
	if (cpu < 0 || limits->cpu_percent == 0)
		return 0;
	uint64_t quota = (uint64_t)limits->cpu_percent * (CPU_PERIOD_US / 100);
	if (cgroup_write_number(cpu, "cpu.cfs_period_us", CPU_PERIOD_US, err) < 0)
		return -1;
	return cgroup_write_number(cpu, "cpu.cfs_quota_us", quota, err);
}

/* 1,024 shares are v1's standard, as a weight of 100 is v2's; fewer than 2 there are not. */
int cgroup_v1_weigh(const struct cgroup_group *top, uint32_t weight, struct error *err)
{
	int dir = cgroup_dir(top, CGROUP_CPU);
	return dir < 0 ? 0 : cgroup_write_number(dir, "cpu.shares", (uint64_t)weight * 1024 / 100, err);
}

int cgroup_v1_prepare_leaf(const struct cgroup_group *leaf, struct error *err)
{
	(void)leaf, (void)err;
	return 0;
}

/* v1 has no oom.group: the kernel kills one process, and who reads oom_kills ends the rest of the leaf. The limit
 * sits on `work`, but the count rises in the victim's own group alone (memcg_memory_event() stops there on v1). */
void cgroup_v1_memory_usage(const struct cgroup_group *leaf, struct process_usage *usage)
{
	int dir = cgroup_dir(leaf, CGROUP_MEMORY);
	usage->memory_peak = cgroup_read_number(dir, "memory.max_usage_in_bytes", NULL);
	usage->oom_kills = cgroup_read_number(dir, "memory.oom_control", "oom_kill");
}

static uint64_t microseconds(int dir, const char *file)
{
	uint64_t nanoseconds = cgroup_read_number(dir, file, NULL);
	return nanoseconds == UINT64_MAX ? UINT64_MAX : nanoseconds / NANOSECONDS_A_MICROSECOND;
}

static int usage_of(const struct cgroup_group *leaf, struct process_usage *usage, struct error *err)
{
	(void)err;
	int dir = cgroup_dir(leaf, CGROUP_CPUACCT);
	usage->user_us = microseconds(dir, "cpuacct.usage_user");
	usage->system_us = microseconds(dir, "cpuacct.usage_sys");
	cgroup_v1_memory_usage(leaf, usage);
	return 0;
}

void cgroup_v1_measure_memory(const struct cgroup_group *work, struct sandbox_usage *usage)
{
	int dir = cgroup_dir(work, CGROUP_MEMORY);
	usage->memory = cgroup_without(cgroup_read_number(dir, "memory.usage_in_bytes", NULL),
	                               cgroup_read_number(dir, "memory.stat", "total_inactive_file"));
	usage->memory_peak = cgroup_read_number(dir, "memory.max_usage_in_bytes", NULL);
	usage->tasks = cgroup_read_number(cgroup_dir(work, CGROUP_PIDS), "pids.current", NULL);
}

static void measure(const struct cgroup_group *work, struct sandbox_usage *usage)
{
	usage->cpu_us = microseconds(cgroup_dir(work, CGROUP_CPUACCT), "cpuacct.usage");
	cgroup_v1_measure_memory(work, usage);
}

/* Any hierarchy in which leaves have a directory will do. */
static int process_dir(const struct cgroup_group *group)
{
	for (unsigned i = 0; i < group->host->count; i++)
		if (group->dirs[i] >= 0 && group->host->hierarchies[i].has_leaves)
			return group->dirs[i];
	return -1;
}

static int kill_group(const struct cgroup_group *group, struct error *err)
{
	return cgroup_kill_each(process_dir(group), err);
}

static int is_empty(struct cgroup_group *group, struct error *err)
{
	char text[32];
	ssize_t n = cgroup_read(process_dir(group), "cgroup.procs", text, sizeof text, err);
	return n < 0 ? -1 : n == 0;
}

static int events_fd(struct cgroup_group *group)
{
	(void)group;
	return -1;
}

static int freeze(const struct cgroup_group *work, bool frozen, struct error *err)
{
	int dir = cgroup_dir(work, CGROUP_FREEZER);
	if (dir < 0)
		return error_set(err, ENOSYS, "freeze: the host has no freezer hierarchy");
	return cgroup_write(dir, "freezer.state", frozen ? "FROZEN" : "THAWED", err);
}

const struct cgroup_driver cgroup_v1 = {
	.name = "v1",
	.leaf_controllers = 1u << CGROUP_MEMORY | 1u << CGROUP_CPUACCT,
	.limit = cgroup_v1_limit,
	.weigh = cgroup_v1_weigh,
	.prepare_leaf = cgroup_v1_prepare_leaf,
	.kill = kill_group,
	.is_empty = is_empty,
	.events_fd = events_fd,
	.usage = usage_of,
	.measure = measure,
	.freeze = freeze,
	.frozen_cannot_die = true,
};
