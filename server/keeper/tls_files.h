/*
 * tls_files.h: the certificate and key that the gateway proves itself with. They may be readable by root alone: the
 * keeper reads them, and hands on descriptors of sealed copies, so that a gateway that follows another gets what was
 * found good, even while the files are being replaced. What stands in them is for `sandbar-keys` and the gateway to
 * judge.
 */
#ifndef SANDBAR_TLS_FILES_H
#define SANDBAR_TLS_FILES_H

#include "sandbox/error.h"

struct tls_files {
	int cert, key; /* -1: none */
};

/* Read both, if `sandbar-keys` finds that they can be used. */
int tls_files_open(struct tls_files *files, const char *cert, const char *key, struct error *err);
void tls_files_close(struct tls_files *files);

/* Hand them to the other end of SOCKET (SEQPACKET, struct gateway_news). */
int tls_files_send(const struct tls_files *files, int socket, struct error *err);

#endif
