/*
 * cgroup_driver.h: the functions that more than one of the drivers' tables hold. The hybrid takes kill, events and
 * freeze from v2 and the limits from v1.
 */
#ifndef SANDBAR_CGROUP_DRIVER_H
#define SANDBAR_CGROUP_DRIVER_H

#include "cgroup.h"

int cgroup_v2_kill(const struct cgroup_group *group, struct error *err);
int cgroup_v2_is_empty(struct cgroup_group *group, struct error *err);
int cgroup_v2_events_fd(struct cgroup_group *group);
int cgroup_v2_freeze(const struct cgroup_group *work, bool frozen, struct error *err);
void cgroup_v2_cpu_usage(const struct cgroup_group *leaf, struct process_usage *usage);
void cgroup_v2_measure_cpu(const struct cgroup_group *work, struct sandbox_usage *usage); /* and pressure */

int cgroup_v1_limit(const struct cgroup_group *work, const struct sandbox_limits *limits, struct error *err);
int cgroup_v1_weigh(const struct cgroup_group *top, uint32_t weight, struct error *err);
int cgroup_v1_prepare_leaf(const struct cgroup_group *leaf, struct error *err);
void cgroup_v1_memory_usage(const struct cgroup_group *leaf, struct process_usage *usage);
void cgroup_v1_measure_memory(const struct cgroup_group *work, struct sandbox_usage *usage); /* and tasks */

/* cgroup_kill_each.c: SIGKILL to each process that stands in DIR's cgroup.procs, by pidfd, for as many rounds as
 * bring new ones (bounded). For kernels and hierarchies without cgroup.kill. */
int cgroup_kill_each(int dir, struct error *err);

#endif
