/*
 * keeper_process.h: the keeper's library with the real sandbox, in a process of its own, as sandbard runs it.
 */
#ifndef SANDBAR_TEST_KEEPER_PROCESS_H
#define SANDBAR_TEST_KEEPER_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct keeper_process {
	pid_t pid;
	int socket;      /* the gateway's end; non-blocking */
	char cgroup[41]; /* name of its cgroups */
	char staging[32];
	char failure[256]; /* why this host allows no sandbox */
};

/* False, with `failure`, where no sandbox can be made. */
bool keeper_process_start(struct keeper_process *keeper, uint32_t max_sessions);
/* Hang up, as a gateway that dies. True if the keeper then ended all sandboxes and left nothing. */
bool keeper_process_stop(struct keeper_process *keeper);
/* By SIGKILL: its cgroups stay, for the next one to sweep. `socket` stays open. */
void keeper_process_kill(struct keeper_process *keeper);

#endif
