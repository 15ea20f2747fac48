/*
 * token.h: tokens are JWTs (RFC 7519) signed with Ed25519 (RFC 8037). The algorithm comes from the key: a token
 * whose header says anything but {"alg":"EdDSA"} is refused.
 *
 * Claims: sub (name), ten (tenant), rights (list of names), exp (seconds since 1970, optional), jti (the token's id),
 * ses (of a share's token: its session).
 */
#ifndef SANDBAR_TOKEN_H
#define SANDBAR_TOKEN_H

#include "principal.h"
#include "sandbox/error.h"

#include <stddef.h>

struct evp_pkey_st;

enum { TOKEN_BYTES = 2048 }; /* most characters of a token */

void token_new_id(char id[TOKEN_ID_BYTES + 1]); /* random; base64url */

/* A new token for PRINCIPAL, with its id or, where that is empty, a new one; the caller frees it. NULL on error. */
char *token_mint(struct evp_pkey_st *key, const struct principal *principal, struct error *err);

/* Fill PRINCIPAL from TOKEN (LENGTH characters) if its signature is right and it has not expired at NOW_S. */
bool token_verify(struct evp_pkey_st *key, const char *token, size_t length, uint64_t now_s,
                  struct principal *principal);

#endif
