/*
 * token_methods.h: the methods `token.…`: what they take, and their handlers; and who comes by a sign-in link.
 */
#ifndef SANDBAR_TOKEN_METHODS_H
#define SANDBAR_TOKEN_METHODS_H

#include "method.h"

struct token_create_args {
	const char *name, *tenant;
	const char **rights;
	uint64_t expires_ms; /* from now, of a link from its use; 0 = never, of a link 30 days */
	uint64_t uses;       /* 0: it is no link */
	struct optional_uint redeem_ms;
};

struct token_args {
	const char *id;
};

extern const struct param token_create_params[], token_params[];

void handle_token_create(struct call *call, const void *args);
void handle_token_list(struct call *call, const void *args);
void handle_token_revoke(struct call *call, const void *args);
void handle_token_redeem(struct call *call, const void *args);

/* The entry `rights` of a map. */
void token_write_rights(struct writer *writer, const struct principal *principal);

/* Whether who says hello with a link (its right is RIGHT_REDEEM) may come. Else *CODE and *TEXT (static) say why not. */
bool link_lets_in(const struct caller *caller, enum error_code *code, const char **text);

#endif
