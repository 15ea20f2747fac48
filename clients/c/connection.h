/*
 * connection.h: the inside of a struct sandbar: what its parts (connection, channel, blocking) share.
 */
#ifndef SANDBAR_CLIENT_CONNECTION_H
#define SANDBAR_CLIENT_CONNECTION_H

#include "backoff.h"
#include "request.h"
#include "transport.h"
#include "watch.h"
#include "protocol/reader.h"

/* Where a connection stands; the actions of connection.c are a table over these. */
enum phase {
	PHASE_IDLE,     /* made, never opened */
	PHASE_OPENING,  /* TCP, TLS, the upgrade */
	PHASE_GREETING, /* hello is out */
	PHASE_READY,
	PHASE_WAITING, /* cut; the timer opens it again */
	PHASE_OVER,    /* given up or closed */
	PHASE_COUNT
};

struct sandbar {
	char *token;
	char client[LIMIT_NAME_BYTES + 1];
	uint8_t client_id[CLIENT_ID_BYTES];
	char shared_session[SANDBAR_SESSION_BYTES]; /* what hello named, or "" */
	uint32_t give_up_ms;
	void (*on_state)(struct sandbar *, enum sandbar_state, const struct sandbar_error *, void *);
	void *user;

	enum phase phase;
	enum sandbar_state state;
	bool was_ready; /* at least once */
	bool is_interrupted;
	unsigned callback_depth;  /* inside callbacks of the loop */
	struct sandbar_error why; /* of the last cut, or the end */
	int64_t cut_at_ms;        /* monotonic */
	struct backoff backoff;

	struct transport *transport;
	struct watches watches;
	struct requests requests;
	struct sandbar_channel *channels; /* a list */
};

/* Send MESSAGE (begun by transport_message_begin) if there is a connection, else drop it. */
void connection_send(struct sandbar *sandbar, struct writer *message);
bool connection_is_ready(const struct sandbar *sandbar);

/* The server broke sandbar.v1: there is no use in trying again. */
void connection_violated(struct sandbar *sandbar, const char *what);

/* Handle one message on channel 0: READER stands before the first frame. */
void control_message(struct sandbar *sandbar, struct reader *reader);

#endif
