/*
 * launch.h: the parent's part in starting a sandbox's first process.
 */
#ifndef SANDBAR_LAUNCH_H
#define SANDBAR_LAUNCH_H

#include "child.h"

#include <time.h>

enum { LAUNCH_SECONDS = 10 }; /* most time that a start may take: past it something hangs */

struct launch {
	const struct sandbox_host *host;
	const char *hostname;
	const struct sandbox_limits *limits;
	int block;                           /* of ids; unused without ranges */
	int cgroup;                          /* directory to be born into (v2), or -1 */
	const struct cgroup_session *groups; /* NULL: a trial */
	int socket;                          /* for init; -1: a trial */
	struct timespec deadline;
	/* results */
	pid_t pid;
	int pidfd; /* -1 if nothing was started */
	struct child_report report;
	bool is_spared; /* by the kernel, when memory runs out */
};

/* Start the child and wait until it has executed init; of a trial, until it has told how far it came (an error only
 * if it could not be started). After an error the child, if pidfd is not -1, is still to be killed and reaped. */
int launch_run(struct launch *launch, struct error *err);

/* Milliseconds until the deadline, at least 0. */
int launch_time_left(const struct timespec *deadline);
struct timespec launch_deadline(void);

#endif
