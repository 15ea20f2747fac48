#include "cgroup_driver.h"
#include "cgroup_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { CPU_PERIOD_US = 100000 }; /* the kernel's default period */

static int dir_of(const struct cgroup_group *group)
{
	return cgroup_dir(group, CGROUP_UNIFIED);
}

static bool has(const struct cgroup_group *group, enum cgroup_controller controller)
{
	return group->host->where[controller] >= 0;
}

/* memory.swap.max is 0, so that memory.max is all there is; it is missing on kernels without swap accounting. */
static int limit_memory(int dir, uint64_t bytes, struct error *err)
{
	if (cgroup_write_number(dir, "memory.max", bytes, err) < 0)
		return -1;
	struct error swap;
	if (cgroup_write(dir, "memory.swap.max", "0", &swap) < 0 && swap.errnum != ENOENT) {
		if (err)
			*err = swap;
		return -1;
	}
	return 0;
}

static int limit_cpu(int dir, uint32_t percent, struct error *err)
{
	char text[40];
	snprintf(text, sizeof text, "%" PRIu64 " %d", (uint64_t)percent * (CPU_PERIOD_US / 100), CPU_PERIOD_US);
	return cgroup_write(dir, "cpu.max", text, err);
}

static int limit(const struct cgroup_group *work, const struct sandbox_limits *limits, struct error *err)
{
	int dir = dir_of(work);
	if (has(work, CGROUP_MEMORY) && limit_memory(dir, limits->memory, err) < 0)
		return -1;
	if (has(work, CGROUP_PIDS) && cgroup_write_number(dir, "pids.max", limits->processes, err) < 0)
		return -1;
	if (has(work, CGROUP_CPU) && limits->cpu_percent > 0)
		return limit_cpu(dir, limits->cpu_percent, err);
	return 0;
}

static int weigh(const struct cgroup_group *top, uint32_t weight, struct error *err)
{
	return has(top, CGROUP_CPU) ? cgroup_write_number(dir_of(top), "cpu.weight", weight, err) : 0;
}

/* The victim of a memory shortage dies with its whole leaf, not as one process of it. */
static int prepare_leaf(const struct cgroup_group *leaf, struct error *err)
{
	if (!has(leaf, CGROUP_MEMORY))
		return 0;
	return cgroup_write(dir_of(leaf), "memory.oom.group", "1", err);
}

int cgroup_v2_kill(const struct cgroup_group *group, struct error *err)
{
	struct error missing;
	if (cgroup_write(dir_of(group), "cgroup.kill", "1", &missing) == 0)
		return 0;
	if (missing.errnum == ENOENT)
		return cgroup_kill_each(dir_of(group), err); /* before Linux 5.14 */
	if (err)
		*err = missing;
	return -1;
}

int cgroup_v2_events_fd(struct cgroup_group *group)
{
	if (group->events < 0)
		group->events = openat(dir_of(group), "cgroup.events", O_RDONLY | O_CLOEXEC);
	return group->events;
}

int cgroup_v2_is_empty(struct cgroup_group *group, struct error *err)
{
	char text[128];
	int fd = cgroup_v2_events_fd(group);
	ssize_t n = fd < 0 ? -1 : pread(fd, text, sizeof text - 1, 0);
	if (n < 0)
		return error_set(err, errno, "read `cgroup.events`");
	text[n] = '\0';
	return cgroup_find_number(text, "populated") == 0;
}

int cgroup_v2_freeze(const struct cgroup_group *work, bool frozen, struct error *err)
{
	return cgroup_write(dir_of(work), "cgroup.freeze", frozen ? "1" : "0", err);
}

/* cpu.stat counts the time without the controller too, and keeps what ended processes used. */
void cgroup_v2_cpu_usage(const struct cgroup_group *leaf, struct process_usage *usage)
{
	char text[2048];
	if (cgroup_read(dir_of(leaf), "cpu.stat", text, sizeof text, NULL) <= 0)
		return;
	usage->user_us = cgroup_find_number(text, "user_usec");
	usage->system_us = cgroup_find_number(text, "system_usec");
}

static int usage_of(const struct cgroup_group *leaf, struct process_usage *usage, struct error *err)
{
	(void)err;
	cgroup_v2_cpu_usage(leaf, usage);
	if (!has(leaf, CGROUP_MEMORY))
		return 0;
	usage->memory_peak = cgroup_read_number(dir_of(leaf), "memory.peak", NULL); /* from Linux 5.19 */
	/* The limit sits on `work`, but the kernel counts a victim in its own group, and upwards from there. */
	usage->oom_kills = cgroup_read_number(dir_of(leaf), "memory.events", "oom_kill");
	return 0;
}

/* The line "some avg10=0.00 …" of FILE, in hundredths; missing without CONFIG_PSI, or where it is switched off. */
static uint64_t pressure(int dir, const char *file)
{
	char text[256];
	unsigned whole, hundredths;
	if (cgroup_read(dir, file, text, sizeof text, NULL) <= 0 ||
	    sscanf(text, "some avg10=%u.%2u", &whole, &hundredths) != 2)
		return UINT64_MAX;
	return (uint64_t)whole * 100 + hundredths;
}

void cgroup_v2_measure_cpu(const struct cgroup_group *work, struct sandbox_usage *usage)
{
	int dir = dir_of(work);
	usage->cpu_us = cgroup_read_number(dir, "cpu.stat", "usage_usec");
	usage->cpu_pressure = pressure(dir, "cpu.pressure");
	usage->memory_pressure = pressure(dir, "memory.pressure");
	usage->io_pressure = pressure(dir, "io.pressure");
}

static void measure(const struct cgroup_group *work, struct sandbox_usage *usage)
{
	int dir = dir_of(work);
	cgroup_v2_measure_cpu(work, usage);
	usage->memory = cgroup_without(cgroup_read_number(dir, "memory.current", NULL),
	                               cgroup_read_number(dir, "memory.stat", "inactive_file"));
	usage->memory_peak = cgroup_read_number(dir, "memory.peak", NULL);
	usage->tasks = cgroup_read_number(dir, "pids.current", NULL);
}

const struct cgroup_driver cgroup_v2 = {
	.name = "v2",
	.leaf_controllers = 1u << CGROUP_UNIFIED,
	.limit = limit,
	.weigh = weigh,
	.prepare_leaf = prepare_leaf,
	.kill = cgroup_v2_kill,
	.is_empty = cgroup_v2_is_empty,
	.events_fd = cgroup_v2_events_fd,
	.usage = usage_of,
	.measure = measure,
	.freeze = cgroup_v2_freeze,
};
