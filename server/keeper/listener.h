/*
 * listener.h: where the server listens. The keeper binds, and hands on; it never accepts.
 */
#ifndef SANDBAR_LISTENER_H
#define SANDBAR_LISTENER_H

#include "sandbox/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

struct listen_address {
	struct sockaddr_storage address;
	socklen_t length;
};

/* "127.0.0.1:7433" or "[::1]:0", numbers only. */
int listen_address_parse(struct listen_address *address, const char *text, struct error *err);
bool listen_address_is_loopback(const struct listen_address *address);
bool listen_address_is_wildcard(const struct listen_address *address); /* 0.0.0.0, [::] */

/* Bind and listen; returns the socket (non-blocking, close-on-exec), or -1. ADDRESS gets the port that was taken. */
int listener_open(struct listen_address *address, struct error *err);

/* "127.0.0.1:7433", as it stands in a URL. */
void listen_address_format(const struct listen_address *address, char *text, size_t size);

#endif
