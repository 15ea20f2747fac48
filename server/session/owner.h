/*
 * owner.h: a session that ends with its client: when no connection of the client that made it has been there for a while.
 */
#ifndef SANDBAR_OWNER_H
#define SANDBAR_OWNER_H

#include "protocol/wire.h"

#include <ev.h>
#include <stdint.h>

struct session;

struct owner {
	struct session *session;
	uint8_t client[CLIENT_ID_BYTES];
	uint64_t away_ms; /* that it may be away; 0: the session does not depend on it */
	ev_timer away;
};

void owner_init(struct owner *owner, struct session *session);
void owner_stop(struct owner *owner); /* may be repeated */
void owner_left(struct owner *owner); /* it has no connection; of a session that was restored, too */
void owner_back(struct owner *owner);

#endif
