/*
 * http.h: plain HTTP: the page that says what this is, /healthz, and the decision who may open a WebSocket.
 */
#ifndef SANDBAR_HTTP_H
#define SANDBAR_HTTP_H

#include <libwebsockets.h>

/* The lws callback of plain HTTP; lws also asks it before it binds a connection to the subprotocol. */
int http_callback(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in, size_t length);

#endif
