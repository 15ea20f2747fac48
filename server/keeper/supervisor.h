/*
 * supervisor.h: the life of the server while it runs: a gateway is started, announced, started again when it dies (its
 * sandboxes live on), replaced by a new program on SIGUSR2, its certificate on SIGHUP, and everything is ended when a signal asks for it. A table
 * of states and events; the loop only makes events.
 */
#ifndef SANDBAR_SUPERVISOR_H
#define SANDBAR_SUPERVISOR_H

#include "gateway.h"
#include "keeper.h"

struct supervisor_events {
	/* A gateway serves; FIRST is false for one that follows a dead one. */
	void (*serving)(void *owner, bool first);
	/* SIGUSR2: open the programs anew. -1: the old ones stay. */
	int (*reopen)(void *owner, struct error *err);
	/* SIGHUP: read the files of TLS anew. 1: LAUNCH has new ones; 0: there are none; -1: the old ones stay. */
	int (*reload)(void *owner, struct error *err);
	/* The end has begun. */
	void (*stopping)(void *owner);
	/* Called as long as it runs; returns after how many ns again, UINT64_MAX = never. */
	uint64_t (*tick)(void *owner);
};

/* Block the signals that the supervisor takes, before anything is started that could miss them. */
int supervisor_block_signals(struct error *err);

/* Run until the server is stopped. Returns an enum exit_code. When it returns no gateway and no sandbox is left, but
 * for what outlived its kill, which the log then tells. */
int supervisor_run(struct keeper *keeper, struct gateway_launch *launch, const struct supervisor_events *events,
                   void *owner);

#endif
