/*
 * tls.h: the gateway's end of TLS: which certificate a handshake gets. The keeper opens the files and hands their
 * descriptors over INHERIT_NEWS, once before the start and again whenever they were replaced; connections that are
 * there stay as they are, and the next handshake gets the new certificate.
 */
#ifndef SANDBAR_TLS_H
#define SANDBAR_TLS_H

#include "sandbox/error.h"

#include <ev.h>

struct ssl_ctx_st;
struct tls;

/* Wait for the first pair of files, and read them. NULL on error. NEWS is borrowed. */
struct tls *tls_create(int news, struct error *err);
void tls_destroy(struct tls *tls); /* NULL is allowed */

/* Take what else comes over NEWS; a pair that cannot be used is told in the log, and the old one stays. */
void tls_watch(struct tls *tls, struct ev_loop *loop);

/* Have CONTEXT's handshakes use the certificate: TLS 1.2 or later. */
void tls_configure(struct tls *tls, struct ssl_ctx_st *context);

#endif
