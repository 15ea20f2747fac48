/*
 * cgroup_mounts.h: where this process's own cgroups stand in the file system.
 */
#ifndef SANDBAR_CGROUP_MOUNTS_H
#define SANDBAR_CGROUP_MOUNTS_H

#include <stdbool.h>
#include <stddef.h>

enum { CGROUP_PATH_BYTES = 512 };

/* The directory of the own cgroup in the hierarchy of CONTROLLER ("memory"; "" = v2). With TOP, the highest one that
 * can be seen there instead. False if there is none. */
bool cgroup_mounts_find(const char *controller, bool top, char path[CGROUP_PATH_BYTES]);

/* The same from texts in the form of /proc/self/mountinfo and /proc/self/cgroup. */
bool cgroup_mounts_find_in(const char *mountinfo, const char *cgroups, const char *controller, bool top,
                           char path[CGROUP_PATH_BYTES]);

#endif
