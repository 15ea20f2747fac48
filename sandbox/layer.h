/*
 * layer.h: the layers of confinement, as this host gives them. `sandbar doctor`, session.info and a policy's
 * `require` speak of layers by these names.
 */
#ifndef SANDBAR_LAYER_H
#define SANDBAR_LAYER_H

#include <stdbool.h>
#include <stdint.h>

/* LAYER(NAME, "name", what it does). A row's order is the order in which `doctor` prints it. */
/* clang-format off */
#define LAYER_TABLE(LAYER)                                                                  \
	LAYER(USER, "user", "a user namespace of its own")                                      \
	LAYER(PID, "pid", "a process-id namespace with an init of ours")                        \
	LAYER(MOUNT, "mount", "a mount namespace")                                              \
	LAYER(NETWORK, "network", "an empty network namespace")                                 \
	LAYER(IPC, "ipc", "a System V IPC and message queue namespace")                         \
	LAYER(UTS, "uts", "a host name of its own")                                             \
	LAYER(TIME, "time", "clocks since boot that begin with the sandbox, where it is asked for") \
	LAYER(CGROUP_NS, "cgroup-ns", "a cgroup namespace")                                     \
	LAYER(UID_RANGE, "uid-range", "a range of user ids that no other sandbox uses")         \
	LAYER(ROOT, "root", "a read-only root of its own, and a workspace with limits")         \
	LAYER(DEV, "dev", "a minimal /dev and terminals of its own")                            \
	LAYER(PROC, "proc", "a masked /proc")                                                   \
	LAYER(CAPABILITIES, "capabilities", "no capabilities, and no way to new privileges")    \
	LAYER(SECCOMP, "seccomp", "an allow-list of system calls")                              \
	LAYER(LANDLOCK, "landlock", "what may be opened for what, whatever the mounts say")      \
	LAYER(CGROUP, "cgroup", "a cgroup for each process: kill and accounting of whole trees") \
	LAYER(CGROUP_MEMORY, "cgroup-memory", "a memory limit")                                 \
	LAYER(CGROUP_PIDS, "cgroup-pids", "a limit of tasks")                                   \
	LAYER(CGROUP_CPU, "cgroup-cpu", "a limit of processor time")                            \
	LAYER(OOM, "oom", "init is never what the kernel kills for memory")                     \
	LAYER(FREEZE, "freeze", "pausing whole trees")                                          \
	LAYER(RLIMITS, "rlimits", "limits of each process")
/* clang-format on */

enum layer {
#define LAYER(name, text, summary) LAYER_##name,
	LAYER_TABLE(LAYER)
#undef LAYER
		LAYER_COUNT
};

struct layer_status {
	uint32_t on;     /* bool */
	char detail[92]; /* what kind it is ("hybrid: v2 kill, v1 memory"), or why it is missing; ended by NUL */
};

/* What this host gives; an array indexed by enum layer. */
struct layer_report {
	struct layer_status layers[LAYER_COUNT];
};

/* "seccomp", or NULL if LAYER is out of range. */
const char *layer_name(enum layer layer);
const char *layer_summary(enum layer layer);

/* The layer called NAME, or -1. */
int layer_find(const char *name);

#endif
