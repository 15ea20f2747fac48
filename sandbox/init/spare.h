/*
 * spare.h: children of init that wait, each in the leaf of a process that is still to be started (PREPARE).
 *
 * Joining a leaf takes one grace period of the kernel's RCU when nobody did so a moment before (cgroup.procs takes a
 * lock that every fork and exit reads): some 10 ms, which who types a command would wait for. A spare has that behind
 * it, and the fork, when START comes; it is handed what is still to be known, and executes. It is still as trusted as
 * init then: not yet the user's, not dumpable, holding nothing but its leaf's descriptors and its end of a socket pair.
 *
 * Nothing depends on a spare: where there is none, or it is dead, START forks.
 */
#ifndef SANDBAR_INIT_SPARE_H
#define SANDBAR_INIT_SPARE_H

#include "child.h"

struct init;
struct process;
struct request;

enum { SPARES = 4 };

struct spare {
	uint32_t number; /* of the process in whose leaf it is; 0 = none */
	pid_t pid;
	int socket; /* ours; its closing ends the spare */
};

/* PREPARE: fork one. Returns 0 (also where there is no room for a process now), or the errno of a refusal. */
int spare_prepare(struct init *init, const struct request *request);
/* Hand PLAN and the payload to the spare of PROCESS, whose child it becomes. False: there is none. */
bool spare_start(struct init *init, struct process *process, const struct child_plan *plan, int payload_fd);
/* End those of processes before NUMBER, which will not be started any more. */
void spares_end_before(struct init *init, uint32_t number);
/* PID, one of them or not, was reaped; or was stopped by the user's processes, and goes on. */
void spare_reaped(struct init *init, pid_t pid);
void spare_stopped(struct init *init, pid_t pid);

#endif
