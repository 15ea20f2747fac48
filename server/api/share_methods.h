/*
 * share_methods.h: links into a session: the methods `session.share`, `session.shares` and `session.unshare`, and who
 * comes by one.
 */
#ifndef SANDBAR_SHARE_METHODS_H
#define SANDBAR_SHARE_METHODS_H

#include "method.h"

struct share_args {
	const char *session, *name;
	int role; /* index + 1 = enum role */
	uint64_t expires_ms, uses;
};

struct unshare_args {
	const char *session, *share;
};

extern const struct param share_params[], unshare_params[];
extern const struct share_args share_defaults;

void handle_session_share(struct call *call, const void *args);
void handle_session_shares(struct call *call, const void *args);
void handle_session_unshare(struct call *call, const void *args);

/* Whether who says hello with a share's token (caller->principal.session) may come; it is counted, and written down.
 * Else *CODE and *TEXT (static) say why not. */
bool share_lets_in(struct caller *caller, enum error_code *code, const char **text);

#endif
