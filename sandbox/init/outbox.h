/*
 * outbox.h: sending what the gateway is owed, as far as the socket takes it.
 */
#ifndef SANDBAR_INIT_OUTBOX_H
#define SANDBAR_INIT_OUTBOX_H

#include "init.h"

enum outbox_result {
	OUTBOX_SENT,
	OUTBOX_FULL,  /* try again when the socket is writable */
	OUTBOX_LATER, /* the kernel has no room for it now (descriptors in flight, memory): try again after a while */
	OUTBOX_GONE,  /* nobody holds the other end */
};

/* Send one message, with COUNT descriptors. */
enum outbox_result outbox_send(int control, const struct init_message *message, const int *fds, size_t count);

/* Send all that INIT owes: a refusal, SYNCED, the answers to START in their order, what else processes owe,
 * then SYNC_DONE. */
enum outbox_result outbox_flush(struct init *init);

#endif
