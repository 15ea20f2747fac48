/*
 * url.h: where a server is, as a user writes it.
 */
#ifndef SANDBAR_CLIENT_URL_H
#define SANDBAR_CLIENT_URL_H

#include "sandbar.h"

struct url {
	bool tls;
	uint16_t port;
	char host[256];      /* an IPv6 address without its brackets */
	char authority[272]; /* as it stands in the Host header */
	char path[256];
};

/* Read "ws://", "wss://", "http://", "https://" or nothing, then host[:port][/path]. The path defaults to /v1/ws, the
 * port to the scheme's. -1 with the code `usage`. */
int url_parse(struct url *url, const char *text, struct sandbar_error *error);

#endif
