/*
 * conversation.h: the keeper's end of the socket pair to one gateway: requests in, replies out.
 *
 * While a reply waits for room in the socket, no request is read: so what waits is bounded by what is open (after ADOPT by what there is), and a
 * gateway that does not read its replies is only hurting itself.
 */
#ifndef SANDBAR_CONVERSATION_H
#define SANDBAR_CONVERSATION_H

#include "request.h"
#include "watch.h"

#include <stdbool.h>
#include <stddef.h>

struct conversation_events {
	void (*message)(void *owner, const void *bytes, size_t size); /* SIZE may be anything */
	void (*ended)(void *owner);                                   /* the other end was closed */
};

struct queued_reply;

struct conversation {
	const struct conversation_events *events;
	void *owner;
	int epoll;
	int socket; /* -1: nobody is there, and replies vanish */
	struct watch watch;
	struct queued_reply *first, *last;
};

enum { CONVERSATION_FDS = 8 };

void conversation_init(struct conversation *conversation, int epoll, const struct conversation_events *events,
                       void *owner);
/* SOCKET (non-blocking) is the conversation's from here on. */
int conversation_open(struct conversation *conversation, int socket, struct error *err);
/* Nobody is at the other end any more: take what it had still sent. */
void conversation_drain(struct conversation *conversation);
void conversation_close(struct conversation *conversation); /* drops what waits; may be repeated */

/* Send SIZE bytes and COUNT descriptors, which are closed here in any case. */
void conversation_send(struct conversation *conversation, const void *bytes, size_t size, const int *fds, size_t count);

#endif
