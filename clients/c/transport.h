/*
 * transport.h: one WebSocket connection at a time to one address, over libwebsockets: whole messages in, queued
 * messages out, and the loop that also serves a timer and the user's descriptors.
 *
 * Events come only from inside transport_service() and transport_destroy() calls none. `closed` follows every
 * transport_open(), once, unless the transport is destroyed first.
 */
#ifndef SANDBAR_CLIENT_TRANSPORT_H
#define SANDBAR_CLIENT_TRANSPORT_H

#include "sandbar.h"
#include "url.h"
#include "protocol/writer.h"

struct transport;

struct transport_events {
	void (*opened)(void *user);
	/* A whole binary message, at most LIMIT_MESSAGE_BYTES; not checked. */
	void (*message)(void *user, const uint8_t *data, size_t length);
	/* The queue has room again: see transport_has_room(). */
	void (*room)(void *user);
	/* CODE: the peer's close code, or 0 without one. WHY: what happened, for people. */
	void (*closed)(void *user, unsigned code, const char *why);
	void (*timer)(void *user);
	/* One of the user's descriptors is ready. */
	void (*watched)(void *user);
};

/* WATCH_FD is polled in the same loop; it becomes the transport's. CA_FILE may be NULL. */
struct transport *transport_create(const struct url *url, const char *ca_file, int watch_fd,
                                   const struct transport_events *events, void *user, struct sandbar_error *error);
/* Closes with 1000 if it is open, and waits at most half a second for the peer. NULL is allowed. */
void transport_destroy(struct transport *transport);

void transport_open(struct transport *transport);
/* Drop the connection without a word. `closed` follows. */
void transport_drop(struct transport *transport, const char *why);

/* A message begins with TRANSPORT_HEADROOM bytes of anything: room for the WebSocket header. */
extern const size_t TRANSPORT_HEADROOM;
void transport_message_begin(struct writer *message);
/* Queue MESSAGE, which is emptied; without a connection it is dropped. */
void transport_send(struct transport *transport, struct writer *message);
/* Less than 256 KiB are queued: bulk data may be added. */
bool transport_has_room(const struct transport *transport);

/* Call `timer` once in DELAY_MS; -1 = never. Replaces the one before. */
void transport_set_timer(struct transport *transport, int64_t delay_ms);

/* Wait at most TIMEOUT_MS (-1 = for ever) for anything, and handle it. */
void transport_service(struct transport *transport, int timeout_ms);

#endif
