/*
 * gateway.h: the gateway's process, as the keeper starts and ends it. What it inherits is in server/gateway/inherit.h.
 */
#ifndef SANDBAR_KEEPER_GATEWAY_H
#define SANDBAR_KEEPER_GATEWAY_H

#include "identity.h"
#include "server/gateway/inherit.h"
#include "tls_files.h"

/* What every gateway of this server is started with. The descriptors are borrowed. */
struct gateway_launch {
	int program; /* of program_open() */
	int sessions, key, tokens, templates, pages;
	struct tls_files tls; /* none: plain HTTP */
	int listeners[GATEWAY_LISTENERS];
	struct identity identity;
	struct gateway_config config; /* its `listeners` counts them; `epoch` rises with each start */
};

/* One that runs; pidfd is -1 when none does. */
struct gateway {
	int pidfd;
	int news; /* our end of INHERIT_NEWS */
};

/* Start one. *SOCKET becomes the keeper's end of the pair (non-blocking; the caller's). */
int gateway_start(struct gateway *gateway, struct gateway_launch *launch, int *socket, struct error *err);
/* LAUNCH->tls has changed. */
int gateway_hand_tls(const struct gateway *gateway, const struct gateway_launch *launch, struct error *err);
void gateway_signal(const struct gateway *gateway, int signo); /* no effect when none runs */
/* After its end: its wait status (waitpid(2)'s); there is none running then. -1 if it still runs. */
int gateway_reap(struct gateway *gateway);

#endif
