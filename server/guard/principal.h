/*
 * principal.h: who somebody is, as his token says, and what he may do. A value type.
 */
#ifndef SANDBAR_PRINCIPAL_H
#define SANDBAR_PRINCIPAL_H

#include "protocol/wire.h"

#include <stdbool.h>
#include <stdint.h>

/* RIGHT(NAME, bit, "name", what it allows) */
#define RIGHT_TABLE(RIGHT)                                                                             \
	RIGHT(READ, 0, "read", "list sessions, look at them, attach as viewer")                            \
	RIGHT(RUN, 1, "run", "start processes, send input and signals")                                    \
	RIGHT(MANAGE, 2, "manage", "create and end sessions")                                              \
	RIGHT(ADMIN, 3, "admin",                                                                           \
	      "make and revoke tokens of the tenant; of the operator's tenant: look at the server itself") \
	RIGHT(REDEEM, 4, "redeem", "of a sign-in link, and its only one: get a token by it (tokens.h)")

enum right {
	RIGHT_NONE = 0,
#define RIGHT(name, bit, text, summary) RIGHT_##name = 1 << (bit),
	RIGHT_TABLE(RIGHT)
#undef RIGHT
};

enum { PRINCIPAL_NAME_BYTES = 64, PRINCIPAL_SESSION_BYTES = 16, TOKEN_ID_BYTES = 16 };

#define OPERATOR_TENANT "default" /* who has `admin` here looks after the whole server */

struct principal {
	char id[TOKEN_ID_BYTES + 1]; /* of the token, to revoke it by */
	char name[PRINCIPAL_NAME_BYTES + 1];
	char tenant[PRINCIPAL_NAME_BYTES];
	char session[PRINCIPAL_SESSION_BYTES + 1]; /* of a guest: the one session that its token is for; else "" */
	uint32_t rights;                           /* of enum right */
	uint64_t expires_s;                        /* since 1970; 0 = never */
};

/* The highest role that the rights give: manage → owner, run → editor, read → viewer. */
enum role principal_role(const struct principal *principal);
/* The rights that a role gives: the other way round. */
uint32_t principal_rights_of(enum role role);

#endif
