/*
 * keeper_client.h: the gateway's end of the socket pair to the keeper: requests out, each answered once by a call.
 *
 * Nothing blocks, and no callback comes from within a call. What the socket does not take waits in a bounded queue.
 */
#ifndef SANDBAR_KEEPER_CLIENT_H
#define SANDBAR_KEEPER_CLIENT_H

#include "server/keeper/request.h"

#include <ev.h>
#include <stdbool.h>
#include <stddef.h>

struct keeper_client;

struct keeper_answer {
	const struct keeper_reply *reply;
	const struct keeper_created *created;   /* the same, of a CREATE that succeeded or KEEPER_FOUND; else NULL */
	const struct keeper_measured *measured; /* the same, of a MEASURE that succeeded; else NULL */
	int *fds; /* non-NULL; whoever keeps one puts -1 in its place, the others are closed */
	size_t fd_count;
};

/* OWNER and PROCESS are those of the request. It is called once, but for KEEPER_FOUND and KEEPER_HAS_LEAF before. */
typedef void keeper_answer_fn(void *owner, uint32_t process, const struct keeper_answer *answer);

/* FD (non-blocking) is the client's from here on. GONE is told once, when the keeper has left: no answer comes then. */
struct keeper_client *keeper_client_create(struct ev_loop *loop, int fd, void (*gone)(void *owner), void *owner);
void keeper_client_destroy(struct keeper_client *client); /* NULL is allowed; open requests are never answered */

/* Send REQUEST, whose id is chosen here; ANSWERED may be NULL. False, and nothing was done, when the keeper is gone or
 * the queue is full. */
bool keeper_client_send(struct keeper_client *client, const struct keeper_request *request, keeper_answer_fn *answered,
                        void *owner);

#endif
