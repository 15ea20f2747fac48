/*
 * access.h: what a session's owners decided on who may come, and as what: roles that stand over those of tokens, and
 * shares, by whose tokens guests come. It is part of the session's file (access_file.h).
 *
 * Nothing here says what a role allows: that is the gate's (server/guard/gate.h).
 */
#ifndef SANDBAR_ACCESS_H
#define SANDBAR_ACCESS_H

#include "protocol/wire.h"

#include <stddef.h>

enum {
	BEARER_TOKEN_BYTES = 16, /* of a token's id */
	ACCESS_GRANTS = 256,
	ACCESS_SHARES = 64,
	SHARE_USES = 256,
};

/* Whose role it is: a token's, or, of a share's token, which many have, one client's. A value type. */
struct bearer {
	char token[BEARER_TOKEN_BYTES + 1];
	uint8_t client[CLIENT_ID_BYTES]; /* of a guest */
	bool is_guest;
	bool is_admin; /* no owner of a session stands above it */
};

bool bearer_equals(const struct bearer *one, const struct bearer *other);

/* A role that was given; ROLE_NONE: removed. */
struct grant {
	struct bearer bearer;
	uint32_t participant; /* as which it was given */
	enum role role;
};

struct share {
	char id[BEARER_TOKEN_BYTES + 1]; /* of its token */
	char name[LIMIT_NAME_BYTES + 1];
	char by[LIMIT_NAME_BYTES + 1];
	enum role role;
	uint64_t created_s, expires_s; /* since 1970; expires_s 0 = never */
	uint32_t uses, used;
	bool is_closed; /* somebody who came by it is not wanted any more: it takes nobody new */
	bool is_revoked;
	uint8_t (*clients)[CLIENT_ID_BYTES]; /* who came; `used` of them, owned */
};

/* Zeroes are an empty one. */
struct access {
	struct grant *grants;
	struct share *shares;
	size_t grant_count, share_count;
};

void access_finish(struct access *access);

/* What was given to BEARER, which stands over what its token says; NULL: nothing. */
const struct grant *access_find(const struct access *access, const struct bearer *bearer);
const struct grant *access_find_grant(const struct access *access, uint32_t participant); /* or NULL */

/* Give BEARER a role. BEFORE becomes what was there, for access_take_back(), which a change needs that could not be
 * written down. False: there are too many. */
struct access_before {
	struct grant grant;
	struct share *share;
	bool had_grant, was_closed;
};
bool access_give(struct access *access, const struct grant *grant, struct access_before *before);
void access_take_back(struct access *access, const struct bearer *bearer, const struct access_before *before);

/* A new share, of SHARE without clients; NULL: ACCESS_SHARES are good. Revoked and expired ones make room. */
struct share *access_add_share(struct access *access, const struct share *share, uint64_t now_s);
void access_drop_share(struct access *access, struct share *share);
struct share *access_find_share(const struct access *access, const char *id);
bool share_is_good(const struct share *share, uint64_t now_s); /* neither revoked nor expired */
bool share_is_open(const struct share *share, uint64_t now_s); /* … and takes new clients */

/* Let CLIENT come by SHARE: *IS_NEW tells that it had not before, and is counted now. False: it may not. */
bool share_admit(struct share *share, const uint8_t client[CLIENT_ID_BYTES], uint64_t now_s, bool *is_new);
void share_forget_last(struct share *share); /* who was admitted last */

#endif
