/*
 * call.h: one request on its way from a door through a method to its answer; and the caller that it came from.
 *
 * A door owns its struct caller. A call is made by call_dispatch() and freed when it is answered or failed, which
 * every call is exactly once; if the caller went away before, the answer is dropped.
 */
#ifndef SANDBAR_CALL_H
#define SANDBAR_CALL_H

#include "protocol/reader.h"
#include "protocol/writer.h"
#include "server/guard/principal.h"
#include "server/session/session.h"

struct call;
struct caller;
struct server;
struct templates;
struct proofs;
struct tenants;
struct tokens;

/* What a door does with answers and channels. */
struct door {
	/* RESULT is a MessagePack map. */
	void (*answer)(struct caller *caller, uint32_t id, const uint8_t *result, size_t length);
	/* ERROR is the map {code, message, data}. */
	void (*fail)(struct caller *caller, uint32_t id, const uint8_t *error, size_t length);
	/* Attach to SESSION: the door fills number, wake and owner. NULL when it has no room for one more. */
	struct channel *(*attach)(struct caller *caller, struct session *session, struct channel_options *options);
	bool (*detach)(struct caller *caller, uint32_t channel);                   /* false: there is no such channel */
	struct channel *(*channel)(const struct caller *caller, uint32_t channel); /* NULL: there is no such channel */
};

struct caller {
	const struct door *door;
	struct server *server;
	struct principal principal;
	uint8_t client[CLIENT_ID_BYTES];
	char client_name[LIMIT_NAME_BYTES + 1];
	LIST_HEAD(, call) calls; /* open ones */
};

/* What all methods may know of the server. */
struct server {
	struct sessions sessions;
	const struct layer_report *layers;
	uint64_t started_us, epoch; /* CLOCK_MONOTONIC */
	size_t connections, most_connections;
	uint64_t queued_bytes, reassembly_bytes; /* of all connections */
	bool is_stopping;
	bool is_draining;                  /* no session can be made any more */
	uint64_t errors[ERROR_CODE_COUNT]; /* that were answered, by code */
	struct tokens *tokens;
	struct proofs *proofs;                                                 /* NULL: none was made */
	struct templates *templates;                                           /* NULL: only `default` */
	struct tenants *tenants;                                               /* NULL: none has a limit */
	void (*on_revoked)(struct server *server, const char *token_id);       /* NULL = nobody waits */
	void (*on_removed)(struct server *server, const struct bearer *guest); /* the same */
};

struct call {
	LIST_ENTRY(call) link; /* in its caller */
	struct caller *caller; /* NULL: it went away */
	uint32_t id;
	struct writer result;
	/* The client cancelled, or went away: end what is being waited for, and answer, now or later. NULL: nothing to do. */
	void (*cancel)(struct call *call);
	void *state; /* the handler's */
};

enum {
	CALL_RESULT_BYTES = 4000 * 1024,
	SERVER_ANSWER_BYTES = 256 * 1024 * 1024,    /* unread answers of all connections; who has most of them is cut */
	SERVER_UNFINISHED_BYTES = 64 * 1024 * 1024, /* unfinished messages of all connections; the oldest is given up */
};

void caller_init(struct caller *caller, const struct door *door, struct server *server);
void caller_finish(struct caller *caller); /* cancels what is open */
struct bearer caller_bearer(const struct caller *caller);
/* What it may do in SESSION, in which an owner can have given it another role than its token's. */
struct principal caller_in_session(const struct caller *caller, const struct session *session);
bool caller_was_removed(const struct caller *caller, const struct session *session);

/* Run the method: finds it, decodes PARAMS, asks the gate. */
void call_dispatch(struct caller *caller, uint32_t id, struct view method, struct reader params);
void call_cancel(struct caller *caller, uint32_t id); /* an id that is not open is ignored */
bool caller_has_call(const struct caller *caller, uint32_t id);

/* call->result holds the answer's map. */
void call_answer(struct call *call);
void call_answer_empty(struct call *call);
void call_answer_seq(struct call *call, uint64_t seq); /* {seq} */
/* KEY, if not NULL, is put into `data`, with TEXT. */
void call_fail(struct call *call, enum error_code code, const char *key, const char *text, const char *format, ...)
	__attribute__((format(printf, 5, 6)));
/* As call_fail(), with a code's name that a driver gave. */
void call_fail_named(struct call *call, const char *code, const char *message);
/* A file could not be written: `no_space` where the disk is full. */
void call_fail_to_write(struct call *call, const struct error *err);

/* The error map of §3.1. */
void error_write(struct writer *writer, enum error_code code, const char *message, const char *key, const char *text);

#endif
