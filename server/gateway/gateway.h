/*
 * gateway.h: the program that talks to strangers: one libev loop, no locks, no privilege. It holds the server's state
 * (struct server), the doors, and the connections.
 */
#ifndef SANDBAR_GATEWAY_H
#define SANDBAR_GATEWAY_H

#include "inherit.h"
#include "metrics.h"
#include "pages.h"
#include "server/api/call.h"

#include <ev.h>
#include <libwebsockets.h>

struct evp_pkey_st;
struct connection;

struct listener {
	ev_io io;
	struct gateway *gateway;
};

struct gateway {
	struct server server; /* what the methods see */
	struct gateway_config config;
	struct ev_loop *loop;
	struct driver *driver;
	struct lws_context *context;
	struct lws_vhost *vhost;
	struct evp_pkey_st *key;
	struct metrics metrics;
	struct tls *tls; /* NULL: plain HTTP */
	struct pages *pages;
	struct listener listeners[GATEWAY_LISTENERS];
	int spare_fd;                 /* given up for a moment when no descriptor is left, to refuse a connection */
	size_t sockets, most_sockets; /* of clients, whether they have said anything yet or not */
	LIST_HEAD(, connection) connections;
	ev_signal terminate, replace;
	ev_timer drain;        /* its end */
	ev_tstamp drain_until; /* by ev_now() */
	ev_tstamp goodbye_at;  /* the same: every session has ended; 0 = not yet */
	ev_timer ended;        /* while it stops: looks whether every session has ended */
	ev_timer leave;        /* the last moment of a stop */
	pid_t keeper_pid;
	int exit_code;
};

enum { GATEWAY_EXIT_KEEPER_GONE = 70 };

#endif
