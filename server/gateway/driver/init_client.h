/*
 * init_client.h: the gateway's end of the socket pair to one sandbox's init (sandbox/init/wire.h).
 *
 * The functions that return bool say false, with nothing done, when init is gone or its queue is full.
 */
#ifndef SANDBAR_INIT_CLIENT_H
#define SANDBAR_INIT_CLIENT_H

#include "sandbox/driver.h"
#include "start_payload.h"

#include <ev.h>
#include <stdbool.h>

struct init_client;

/* A callback may destroy the client. */
struct init_client_events {
	void (*started)(void *owner, uint32_t process, const struct process_streams *streams); /* the receiver's */
	void (*start_failed)(void *owner, uint32_t process, uint32_t phase, int errnum);
	/* WAIT_STATUS -1: it cannot be known. */
	void (*exited)(void *owner, uint32_t process, int wait_status, const struct rusage *usage);
	void (*killed)(void *owner, uint32_t process);
	void (*empty)(void *owner, uint32_t process);       /* without leaves, unasked: nothing of its tree lives */
	void (*kill_failed)(void *owner, uint32_t process); /* what it left can only be ended with the sandbox */
	void (*denied)(void *owner, uint32_t process, int call, uint32_t thread, uint64_t count);
	void (*synced)(void *owner); /* what init knew when it was asked to synchronise was told */
	void (*gone)(void *owner);   /* after everything that init had said */
};

struct init_start {
	uint32_t process;
	uint32_t flags; /* INIT_TERMINAL, INIT_STDIN, INIT_SHELL, INIT_SUBREAPER */
	uint16_t cols, rows;
	struct start_payload payload;
	const int *leaf; /* its cgroup.procs */
	size_t leaf_count;
};

/* FD is the client's from here on. EVENTS and SESSION (for the log) are borrowed. Nothing is told before
 * init_client_sync(), which comes first: what waits on the socket was said to an earlier gateway. */
struct init_client *init_client_create(struct ev_loop *loop, int fd, uint64_t epoch, const char *session,
                                       const struct init_client_events *events, void *owner);
void init_client_destroy(struct init_client *client); /* NULL is allowed */
bool init_client_sync(struct init_client *client);

/* The payload's and the leaf's descriptors are closed here in any case. */
bool init_client_start(struct init_client *client, const struct init_start *start);
/* Its leaf is here, and it may be started soon. What is borrowed stays the caller's. */
bool init_client_prepare(struct init_client *client, uint32_t process, const int *leaf, size_t leaf_count);
bool init_client_signal(struct init_client *client, uint32_t process, int signo, enum signal_scope scope);
bool init_client_kill_tree(struct init_client *client, uint32_t process); /* answered by `killed` or `kill_failed` */
bool init_client_close_stdin(struct init_client *client, uint32_t process);
bool init_client_forget(struct init_client *client, uint32_t process);

#endif
