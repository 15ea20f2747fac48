/*
 * certificate.h: what a TLS server proves itself with: a certificate, those that vouch for it, and its private key, as
 * PEM files.
 */
#ifndef SANDBAR_CERTIFICATE_H
#define SANDBAR_CERTIFICATE_H

#include "sandbox/error.h"

#include <stdbool.h>
#include <stdint.h>

struct evp_pkey_st;
struct x509_st;
struct stack_st_X509;

enum { CERTIFICATE_FILE_BYTES = 1024 * 1024 }; /* most bytes of either file */

struct certificate {
	struct x509_st *leaf;
	struct stack_st_X509 *chain; /* may be empty */
	struct evp_pkey_st *key;
};

/* Read the files from their beginnings; the key must be the leaf's, and without a passphrase. NULL on error, which says
 * which of the two it is. */
struct certificate *certificate_load(int cert_fd, int key_fd, struct error *err);
void certificate_destroy(struct certificate *certificate); /* NULL is allowed */

bool certificate_is_current(const struct certificate *certificate); /* now lies in its time */
/* "CN = example.org" and the like, for the log. */
void certificate_subject(const struct certificate *certificate, char *text, int size);

#endif
