/*
 * tokens.h: the tokens that this server made, which of them were revoked, and which were verified lately.
 *
 * They stand in `tokens.json` of a directory of the gateway's, replaced atomically before a change is answered (spare.h). A token
 * is good when its signature is, it has not expired, and its id was not revoked: one that was made elsewhere with the
 * same key (the owner's) is good without standing here. What has expired is forgotten.
 */
#ifndef SANDBAR_TOKENS_H
#define SANDBAR_TOKENS_H

#include "token.h"

enum { TOKENS_MOST = 4096 };

struct token_record {
	struct principal principal;
	char by[PRINCIPAL_NAME_BYTES + 1]; /* who made it */
	uint64_t created_s;                /* since 1970 */
	bool is_revoked;
};

struct tokens;

/* DIRECTORY and KEY are borrowed. A file that is there and cannot be read is an error: what was revoked would be good
 * again. */
struct tokens *tokens_load(int directory, struct evp_pkey_st *key, struct error *err);
/* None, for a server that goes on without that file: no token is good, and the file is not touched. */
struct tokens *tokens_closed(int directory, struct evp_pkey_st *key);
void tokens_destroy(struct tokens *tokens); /* NULL is allowed */

/* Fill PRINCIPAL from TOKEN if it is good at NOW_S. What was found good is remembered until it expires. */
bool tokens_verify(struct tokens *tokens, const char *token, size_t length, uint64_t now_s,
                   struct principal *principal);

/* Make one for PRINCIPAL, whose id is filled in; the caller frees it. NULL on error; errnum ENOSPC: TOKENS_MOST. */
char *tokens_create(struct tokens *tokens, struct principal *principal, const char *by, uint64_t now_s,
                    struct error *err);
/* The same for a share's token, whose record its session keeps. */
char *tokens_mint(const struct tokens *tokens, struct principal *principal, struct error *err);
/* -1 when it could not be written, even on the room that is reserved for it: it holds, but for this process alone. RECORD is of
 * tokens_at(). */
int tokens_revoke(struct tokens *tokens, const struct token_record *record, struct error *err);

/* The records in the order in which they were made; NULL behind the last. */
const struct token_record *tokens_at(const struct tokens *tokens, size_t index);
const struct token_record *tokens_find(const struct tokens *tokens, const char *id);

#endif
