/*
 * http.h: plain HTTP: the page that says what this is, /healthz (200 as long as it serves, else 503), /metrics (for this
 * machine, and operators' tokens), and the decision who may open a WebSocket.
 */
#ifndef SANDBAR_HTTP_H
#define SANDBAR_HTTP_H

#include <libwebsockets.h>

/* The lws callback of plain HTTP. */
int http_callback(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in, size_t length);

/* What the callback of either protocol returns for LWS_CALLBACK_FILTER_PROTOCOL_CONNECTION: path, Host, Origin, subprotocol
 * and the number of connections decide; who may not is answered 404, 403 or 503. */
int http_filter(struct lws *wsi);

#endif
