/*
 * proof_methods.h: the method `proof.keep`, and the question that a template's `require-proof` asks.
 */
#ifndef SANDBAR_PROOF_METHODS_H
#define SANDBAR_PROOF_METHODS_H

#include "method.h"
#include "server/base/template.h"

struct proof_keep_args {
	const char *template, *kernel, *policy, *root;
	bool has_held, has_fingerprints;
};

extern const struct param proof_keep_params[];
extern const struct proof_keep_args proof_keep_defaults;

void handle_proof_keep(struct call *call, const void *args);

/* Whether TEMPLATE demands no proof, or has one that is fresh. False: the call was failed with `proof`. */
bool proof_is_fresh(struct call *call, const struct template *template);

/* The keys `require_proof_ms` and `proved_us` of template.list. */
enum { PROOF_LIST_KEYS = 2 };
void proof_write(struct writer *writer, const struct server *server, const struct template *template);

#endif
