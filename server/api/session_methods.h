/*
 * session_methods.h: the methods `session.…` and `server.…`: what they take, and their handlers.
 */
#ifndef SANDBAR_SESSION_METHODS_H
#define SANDBAR_SESSION_METHODS_H

#include "method.h"
#include "server/base/template.h"

struct session_create_args {
	const char *name, *template, *profile;
	const char **env, **require, **context;
	struct limit_set limits;
	struct optional_uint record; /* stands among the limits on the wire */
	bool has_limits, for_proof;
	uint64_t ttl_ms, disconnect_ms;
	int on_disconnect; /* index of the row's choices */
};

struct session_list_args {
	bool ended;
};

struct session_update_args {
	const char *session, *name; /* NULL: it stays as it is; so does `context` */
	const char **context;
	struct optional_uint ttl_ms;
};

struct session_args {
	const char *session;
};

struct attach_args {
	const char *session, *name;
	struct optional_uint after, credit, replay;
	uint64_t screens;
	int mode, role; /* indices of the rows' choices; role -1: the highest */
	struct uint_list processes;
};

struct detach_args {
	uint64_t channel;
};

extern const char *const role_choices[]; /* index + 1 = enum role; ended by NULL */
extern const struct param session_create_params[], session_list_params[], session_update_params[], session_params[],
	attach_params[], detach_params[], no_params[];
extern const struct session_create_args session_create_defaults;
extern const struct attach_args attach_defaults;

void handle_session_create(struct call *call, const void *args);
void handle_session_list(struct call *call, const void *args);
void handle_session_info(struct call *call, const void *args);
void handle_session_update(struct call *call, const void *args);
void handle_session_end(struct call *call, const void *args);
void handle_session_attach(struct call *call, const void *args);
void handle_session_detach(struct call *call, const void *args);
void handle_server_info(struct call *call, const void *args);

/* The session called ID, of the caller's tenant and not ended; NULL when the call was failed instead. */
struct session *call_session(struct call *call, const char *id);
/* The same, also one that has ended and can be read: session_channel_gone() follows when it was not attached to. */
struct session *call_readable_session(struct call *call, const char *id);

#endif
