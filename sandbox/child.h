/*
 * child.h: the way of the new process from clone3(2) to init.
 */
#ifndef SANDBAR_CHILD_H
#define SANDBAR_CHILD_H

#include "host.h"

/* Namespaces that the child is born into; the cgroup namespace is entered later (child.c). */
#define CHILD_NAMESPACES (CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS)

struct child_setup {
	const struct sandbox_host *host;
	const char *hostname;
	const struct sandbox_limits *limits;
	uint32_t user;         /* the users' id inside, of user and group */
	uint32_t init;         /* init's, once it has booted; the same where there is one id alone */
	int tree;              /* the root tree's clone */
	int sync;              /* gives one byte when the id maps are written (has_ranges) */
	int report;            /* the pipe on which a failure is told */
	int socket;            /* init's; -1: only try, then tell and leave */
	bool waits_for_groups; /* sync gives one byte more when it stands in its v1 groups */
	uint32_t notes;
	int32_t landlock_abi; /* of a trial; 0 = none */
	int proc;             /* the new proc, between its making and its attaching */
	int init_proc;        /* a proc through which init sees every process */
};

/* notes: proc took hidepid=invisible; the kernel hands refused calls to a listener */
enum { CHILD_HIDES_PROCESSES = 1u << 0, CHILD_TELLS_REFUSALS = 1u << 1 };

/* What the child tells. After a real start there is none: the pipe ends when init is executed. */
struct child_report {
	int32_t done; /* how many steps were */
	uint32_t notes;
	int32_t landlock_abi;
	struct error error; /* message "" = none */
};

_Noreturn void child_run(struct child_setup *setup);

/* The layer that step STEP puts on, or -1; STEP == child_step_count(): none. */
int child_step_layer(int step);
int child_step_count(void);

/* child_proc.c and child_mounts.c: steps of child.c's table. */
int child_make_proc(struct child_setup *setup, struct error *err);
int child_enter_root(struct child_setup *setup, struct error *err);
int child_attach_proc(struct child_setup *setup, struct error *err);
int child_mount_queues(struct child_setup *setup, struct error *err);
int child_mount_terminals(struct child_setup *setup, struct error *err);
int child_mount_workspace(struct child_setup *setup, struct error *err);

#endif
