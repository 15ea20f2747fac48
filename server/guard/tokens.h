/*
 * tokens.h: the tokens that this server made, which of them were revoked, and which were verified lately.
 *
 * They stand in `tokens.json` of a directory of the gateway's, replaced atomically before a change is answered (spare.h). A token
 * is good when its signature is, it has not expired, and its id was not revoked: one that was made elsewhere with the
 * same key (the owner's) is good without standing here. What has expired is forgotten.
 *
 * A **sign-in link** is a token whose only right is `redeem`: who has it gets a token of his own by it, as often as its record
 * says. What such a token may do stands in the record alone, so that the link is worth nothing without it.
 */
#ifndef SANDBAR_TOKENS_H
#define SANDBAR_TOKENS_H

#include "token.h"

enum { TOKENS_MOST = 4096, LINK_USES = 256 };

struct token_record {
	struct principal principal;        /* of a link: whose token one gets; expires_s is the link's own end */
	char by[PRINCIPAL_NAME_BYTES + 1]; /* who made it */
	uint64_t created_s;                /* since 1970 */
	bool is_revoked;
	uint32_t uses, used;       /* of a link: how often it can be redeemed, and was; uses 0: it is no link */
	uint64_t lasts_s, until_s; /* of a link: its tokens are good for so long, and not beyond this (0 = no bound) */
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

/* How many places TENANT's tokens take at NOW_S. What has expired takes none, nor does a link that was used up or revoked: its
 * last token stands in its place. */
size_t tokens_count(const struct tokens *tokens, const char *tenant, uint64_t now_s);

/* Make the token, or the link, that RECORD is to stand for, which gets its id; the caller frees it. NULL on error; errnum
 * ENOSPC: TOKENS_MOST. Of so many, the oldest link that was used up or revoked is forgotten to make room. */
char *tokens_add(struct tokens *tokens, struct token_record *record, uint64_t now_s, struct error *err);
/* Why nobody gets a token by the link RECORD (may be NULL); NULL: one does. */
const char *token_link_fault(const struct token_record *record, uint64_t now_s);
/* A token for who has the link with ID, which has no fault; PRINCIPAL becomes whose it is, the caller frees it. Use and token
 * are written down as one. NULL on error: the link is as before. */
char *tokens_redeem(struct tokens *tokens, const char *id, uint64_t now_s, struct principal *principal,
                    struct error *err);
/* As tokens_add(), for a share's token, whose record its session keeps. */
char *tokens_mint(const struct tokens *tokens, struct principal *principal, struct error *err);
/* -1 when it could not be written, even on the room that is reserved for it: it holds, but for this process alone. RECORD is of
 * tokens_at(). */
int tokens_revoke(struct tokens *tokens, const struct token_record *record, struct error *err);

/* The records in the order in which they were made; NULL behind the last. */
const struct token_record *tokens_at(const struct tokens *tokens, size_t index);
const struct token_record *tokens_find(const struct tokens *tokens, const char *id);

#endif
