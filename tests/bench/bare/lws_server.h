/*
 * lws_server.h: a bare libwebsockets server on a foreign libev loop, as the gateway has it, in a process of its own; and
 * connections to it of plain system calls.
 */
#ifndef SANDBAR_BENCH_LWS_SERVER_H
#define SANDBAR_BENCH_LWS_SERVER_H

#include "link.h"

#include <libwebsockets.h>
#include <stdbool.h>
#include <sys/types.h>

enum { LWS_SERVER_ADDRESS = 64 };

struct ev_loop;

struct lws_server_options {
	const struct lws_protocols *protocols; /* ended by a row without a name */
	/* NULL, or called in the server's process before it serves. */
	void (*prepare)(struct ev_loop *loop, struct lws_context *context);
	bool tls; /* with a certificate of its own */
};

/* Start it on a free port, until it is killed or its parent is gone; ADDRESS as link_open() takes it. */
pid_t lws_server_start(const struct lws_server_options *options, char address[LWS_SERVER_ADDRESS]);

/* A connection on which the opening handshake for the subprotocol PROTOCOL is done, and nothing more was read. */
void lws_server_connect(struct link *link, const char *address, const char *protocol);

#endif
