/*
 * proofs.h: the newest proof of each template (`sandbar prove`): when it was made, whether everything held, and what it
 * depends on. They stand in `proofs.json` of a directory of the gateway's, replaced atomically before a change is answered.
 */
#ifndef SANDBAR_PROOFS_H
#define SANDBAR_PROOFS_H

#include "sandbox/error.h"
#include "server/base/template.h"

#include <stdbool.h>
#include <stddef.h>

enum { PROOF_DIGEST_BYTES = 64 + 1 /* SHA-256 as hexadecimal text */ };

struct proof_record {
	char template[TEMPLATE_NAME_BYTES + 1];
	bool has_held;
	uint64_t proved_s;                                                                     /* since 1970 */
	char kernel[PROOF_DIGEST_BYTES], policy[PROOF_DIGEST_BYTES], root[PROOF_DIGEST_BYTES]; /* as it was found inside */
	char facts[PROOF_DIGEST_BYTES]; /* what the server itself can see of them */
};

struct proofs;

/* DIRECTORY is borrowed. A file that is missing or damaged is none: what was proved must be proved again. */
struct proofs *proofs_load(int directory);
void proofs_destroy(struct proofs *proofs); /* NULL is allowed */

/* NULL: there is none. */
const struct proof_record *proofs_find(const struct proofs *proofs, const char *template);
/* In the place of an earlier one. -1: it could not be written, and the earlier one stands. */
int proofs_keep(struct proofs *proofs, const struct proof_record *record, struct error *err);

void proof_digest(const void *data, size_t length, char text[PROOF_DIGEST_BYTES]);
bool is_proof_digest(const char *text);

#endif
