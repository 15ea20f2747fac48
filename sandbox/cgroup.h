/*
 * cgroup.h: sandboxes' cgroups: PARENT/SESSION/{init,work/pN}, in each hierarchy that the host gives us.
 *
 * A *hierarchy* is one mounted tree (v2, or a v1 controller's). A *group* is one cgroup across hierarchies: its
 * directories there. `work` carries the limits and is what is frozen; its children, one a process, are the leaves.
 * How things are done with a group depends on the host: cgroup_v2.c, cgroup_v1.c, cgroup_hybrid.c and cgroup_none.c
 * are constant tables of functions, of which one is chosen at the start.
 *
 * A cgroup that was killed is never used again: on 6.18 CLONE_INTO_CGROUP into one kills the child.
 */
#ifndef SANDBAR_CGROUP_H
#define SANDBAR_CGROUP_H

#include "driver.h"

#include <sys/types.h>

enum cgroup_controller {
	CGROUP_UNIFIED, /* v2: kill, freeze and events need no controller there */
	CGROUP_MEMORY,
	CGROUP_PIDS,
	CGROUP_CPU,
	CGROUP_CPUACCT, /* v1 alone */
	CGROUP_FREEZER, /* v1 alone */
	CGROUP_CONTROLLERS
};

enum { CGROUP_HIERARCHIES = 6, CGROUP_NAME_BYTES = 48 };

struct cgroup_hierarchy {
	bool v2;
	bool has_leaves;      /* a process gets a directory of its own here; else it joins `work` itself */
	uint32_t controllers; /* bits of enum cgroup_controller that are used here */
	int own;              /* the cgroup in which this process was started */
	int parent;           /* PARENT, a child of it */
	char path[512];       /* of PARENT */
};

struct cgroup_driver;

struct cgroup_host {
	const struct cgroup_driver *driver;
	struct cgroup_hierarchy hierarchies[CGROUP_HIERARCHIES];
	unsigned count;
	int where[CGROUP_CONTROLLERS]; /* index of the hierarchy that has it, or -1 */
	char name[CGROUP_NAME_BYTES];
	bool moved;      /* this process sits in PARENT/server: v2 allows controllers beside no process */
	char detail[92]; /* "hybrid: v2 kill and freeze, v1 memory pids cpu", or why there is none */
};

struct cgroup_group {
	const struct cgroup_host *host;
	int dirs[CGROUP_HIERARCHIES]; /* -1 where it does not exist */
	int events;                   /* of v2: cgroup.events, opened when it is first asked for */
};

struct cgroup_driver {
	const char *name;
	uint32_t leaf_controllers; /* hierarchies with one of these have a directory for each leaf */
	/* Put LIMITS on WORK. */
	int (*limit)(const struct cgroup_group *work, const struct sandbox_limits *limits, struct error *err);
	/* Say how much processor time a session gets beside others: cpu.weight's numbers. */
	int (*weigh)(const struct cgroup_group *top, uint32_t weight, struct error *err);
	/* What a new leaf needs before anything lives in it. */
	int (*prepare_leaf)(const struct cgroup_group *leaf, struct error *err);
	/* Kill what is in GROUP and below; may have to be repeated until it is empty. */
	int (*kill)(const struct cgroup_group *group, struct error *err);
	int (*is_empty)(struct cgroup_group *group, struct error *err);
	int (*events_fd)(struct cgroup_group *group);
	int (*usage)(const struct cgroup_group *leaf, struct process_usage *usage, struct error *err);
	void (*measure)(const struct cgroup_group *work, struct sandbox_usage *usage); /* what it knows */
	int (*freeze)(const struct cgroup_group *work, bool frozen, struct error *err);
	bool frozen_cannot_die; /* v1: SIGKILL waits until it is thawed */
};

extern const struct cgroup_driver cgroup_v2, cgroup_v1, cgroup_hybrid, cgroup_none;

/* Find what the host gives, make PARENT = own cgroup + NAME, and choose the driver. Never fails: there is `none`. */
void cgroup_host_init(struct cgroup_host *host, const char *name);
void cgroup_host_finish(struct cgroup_host *host); /* removes PARENT where it is empty */
/* Kill and remove every session that stands in PARENT, waiting at most 5 s. Returns how many, or -1. */
int cgroup_host_sweep(struct cgroup_host *host, struct error *err);

/* One sandbox's groups. */
struct cgroup_session {
	char name[SESSION_ID_LENGTH + 1];
	struct cgroup_group top, init, work;
};

/* Make them, with LIMITS on work. On error nothing of them is left. */
int cgroup_session_create(struct cgroup_session *session, const struct cgroup_host *host, const char *name,
                          const struct sandbox_limits *limits, struct error *err);
/* Whether a process that was born into the v2 group of init has still to be put somewhere. */
bool cgroup_session_has_v1(const struct cgroup_session *session);
/* Put PID, init to be, into the session in each v1 hierarchy: its cgroup namespace begins where it stands. */
int cgroup_session_join_v1(const struct cgroup_session *session, pid_t pid, struct error *err);
/* Remove the directories, all that are empty; true when nothing of it is left (and then its descriptors are closed). */
bool cgroup_session_remove(struct cgroup_session *session);

/* The leaf pPROCESS. FDS get each hierarchy's cgroup.procs to be written "0" to; returns their number. */
int cgroup_leaf_create(struct cgroup_group *leaf, const struct cgroup_session *session, uint32_t process, int fds[8],
                       struct error *err);
/* Open them again. */
int cgroup_leaf_open(const struct cgroup_group *leaf, const struct cgroup_session *session, int fds[8],
                     struct error *err);
int cgroup_leaf_remove(struct cgroup_group *leaf, const struct cgroup_session *session, uint32_t process,
                       struct error *err);
void cgroup_leaf_finish(struct cgroup_group *leaf); /* closes; the directories are removed with the session */

/* The directory of GROUP that has CONTROLLER, or -1. */
int cgroup_dir(const struct cgroup_group *group, enum cgroup_controller controller);

#endif
