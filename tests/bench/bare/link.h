/*
 * link.h: a blocking connection to a server, plain or with TLS, and a certificate for one. What goes wrong ends the program, but
 * for reading.
 */
#ifndef SANDBAR_BENCH_LINK_H
#define SANDBAR_BENCH_LINK_H

#include <limits.h>
#include <openssl/ssl.h>
#include <stddef.h>
#include <sys/types.h>

struct link {
	int socket;
	SSL *tls; /* NULL: plain */
};

/* Connect to ADDRESS: "http://127.0.0.1:PORT", or https. No certificate is checked: it is the bench's own. */
void link_open(struct link *link, const char *address);
void link_close(struct link *link);

/* Up to ROOM bytes; 0 or less at the end of the connection. */
ssize_t link_read(struct link *link, void *bytes, size_t room);
/* Two pieces, of which the second may be empty, at once. */
void link_write(struct link *link, const void *head, size_t head_length, const void *body, size_t body_length);

/* The paths of a certificate and its key. */
struct certificate {
	char cert[PATH_MAX], key[PATH_MAX];
};

/* Make one for 127.0.0.1 in FOLDER. */
void certificate_make(struct certificate *certificate, const char *folder);

#endif
