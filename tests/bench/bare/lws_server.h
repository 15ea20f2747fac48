/*
 * lws_server.h: a bare libwebsockets server on a foreign libev loop, as the gateway has it, in a process of its own; and
 * connections to it of plain system calls.
 */
#ifndef SANDBAR_BENCH_LWS_SERVER_H
#define SANDBAR_BENCH_LWS_SERVER_H

#include <libwebsockets.h>
#include <sys/types.h>

/* Start it on a free port, until it is killed or its parent is gone. PROTOCOLS ends with a row without a name. */
pid_t lws_server_start(const struct lws_protocols *protocols, int *port);

/* A socket on which the opening handshake for the subprotocol PROTOCOL is done, and nothing more was read. */
int lws_server_connect(int port, const char *protocol);

#endif
