/*
 * request.h: the requests of a connection that wait for their answer, or for a connection to go out on.
 */
#ifndef SANDBAR_CLIENT_REQUEST_H
#define SANDBAR_CLIENT_REQUEST_H

#include "sandbar.h"
#include "protocol/wire.h"
#include "protocol/writer.h"

struct request {
	uint32_t id;           /* 0: the row is free */
	bool is_sent;          /* on this connection */
	bool is_repeatable;    /* may be carried out twice without harm */
	bool is_first;         /* goes out before the ones made earlier (re-attaching a channel) */
	struct writer message; /* with the transport's headroom; empty once sent, unless repeatable */
	sandbar_answer answer;
	void *user;
};

struct requests {
	struct request rows[LIMIT_OPEN_REQUESTS];
	uint32_t last_id;
};

struct transport;

void requests_finish(struct requests *requests);

/* A new row with METHOD and PARAMS (one map; NULL = {}) encoded. NULL with ERROR: too many, or too large. */
struct request *requests_add(struct requests *requests, const char *method, const void *params, size_t length,
                             struct sandbar_error *error);
struct request *requests_find(struct requests *requests, uint32_t id);

/* Send ROW now. */
void requests_send(struct request *row, struct transport *transport);
/* Send what waits, in the order in which it was made. */
void requests_send_waiting(struct requests *requests, struct transport *transport);

/* Take the row away, then call its answer. */
void requests_answer(struct requests *requests, struct request *row, struct sandbar *sandbar,
                     const struct sandbar_error *error, const void *result, size_t length);

/* The connection went: what was sent and may be repeated waits again; the rest is answered with WHY. */
void requests_cut(struct requests *requests, struct sandbar *sandbar, const struct sandbar_error *why);
/* Answer everything with WHY. */
void requests_fail(struct requests *requests, struct sandbar *sandbar, const struct sandbar_error *why);

#endif
