/*
 * keeper_process.h: the keeper's library with the real sandbox, in a process of its own, as sandbard runs it. When its
 * gateway hangs up, it waits for the next one.
 */
#ifndef SANDBAR_TEST_KEEPER_PROCESS_H
#define SANDBAR_TEST_KEEPER_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct keeper_process {
	pid_t pid;
	int socket;      /* the gateway's end; non-blocking */
	int control;     /* to the process itself; closed when it is to end its sandboxes and to leave */
	char cgroup[41]; /* name of its cgroups */
	char staging[32];
	char failure[256]; /* why this host allows no sandbox */
};

/* False, with `failure`, where no sandbox can be made. */
bool keeper_process_start(struct keeper_process *keeper, uint32_t max_sessions);
/* Another gateway comes, with the next epoch: `socket` becomes its end (the old one is the caller's). It is not served
 * before the one before has hung up. */
void keeper_process_attach(struct keeper_process *keeper);
/* How many descriptors the keeper has open, and how many sandboxes of which something is left. */
struct keeper_count {
	size_t descriptors, boxes;
} keeper_process_count(const struct keeper_process *keeper);
/* Hang up, for good. True if the keeper then ended all sandboxes and left nothing. */
bool keeper_process_stop(struct keeper_process *keeper);
/* By SIGKILL: its cgroups stay, for the next one to sweep. `socket` stays open. */
void keeper_process_kill(struct keeper_process *keeper);

#endif
