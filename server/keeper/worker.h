/*
 * worker.h: the gateway's worker (server/worker/), a process as unprivileged as the gateway, which the keeper starts because
 * a gateway that has confined itself can start nothing. One at a time: the next one takes the place of the last, which is
 * killed. It leaves by itself when its gateway does.
 */
#ifndef SANDBAR_KEEPER_WORKER_H
#define SANDBAR_KEEPER_WORKER_H

#include "identity.h"
#include "watch.h"

struct worker;

/* How workers are started. */
struct worker_launch {
	int program; /* of program_open(), borrowed; -1: none can be started */
	struct identity identity;
};

/* Start one, in the list of *WORKERS, on the loop of EPOLL. *SOCKET is the other end for the gateway (the caller's). */
int worker_start(struct worker **workers, const struct worker_launch *launch, int epoll, int *socket,
                 struct error *err);
void workers_finish(struct worker **workers); /* kills what is left */

#endif
