/*
 * token_methods.h: the methods `token.…`: what they take, and their handlers.
 */
#ifndef SANDBAR_TOKEN_METHODS_H
#define SANDBAR_TOKEN_METHODS_H

#include "method.h"

struct token_create_args {
	const char *name, *tenant;
	const char **rights;
	uint64_t expires_ms; /* from now; 0 = never */
};

struct token_args {
	const char *id;
};

extern const struct param token_create_params[], token_params[];

void handle_token_create(struct call *call, const void *args);
void handle_token_list(struct call *call, const void *args);
void handle_token_revoke(struct call *call, const void *args);

#endif
