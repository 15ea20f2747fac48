/*
 * key.h: the server's Ed25519 key, with which tokens are signed; a PEM file (PKCS #8) of mode 0600.
 */
#ifndef SANDBAR_KEY_H
#define SANDBAR_KEY_H

#include "sandbox/error.h"

struct evp_pkey_st;

struct evp_pkey_st *key_generate(struct error *err);
struct evp_pkey_st *key_load(int fd, struct error *err); /* reads from the descriptor's beginning */
int key_save(const struct evp_pkey_st *key, int fd, struct error *err);
void key_destroy(struct evp_pkey_st *key); /* NULL is allowed */

#endif
