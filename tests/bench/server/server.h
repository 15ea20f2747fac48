/*
 * server.h: a server for the time of one benchmark program: a free port, and a state directory of its own. A process that
 * does nothing else stops it and removes what it has written, however the program ends: also when it was killed. The
 * server is the one in ../../bin beside the program, or in the directory SANDBAR_BIN.
 */
#ifndef SANDBAR_BENCH_SERVER_H
#define SANDBAR_BENCH_SERVER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { SERVER_TEXT = 1024, SERVER_RECORD = 64 << 20 };

/* What differs from how a server runs by itself; 0 = nothing does, but that no sandbox stands ready. */
struct server_options {
	bool tls;                       /* with a certificate that the openssl command makes */
	bool quiet;                     /* not even its errors are shown: gateways are killed */
	bool sets_record;               /* --record RECORD, which may be 0 */
	uint64_t record;                /* bytes */
	uint64_t sessions, connections; /* --max-… */
	uint64_t warm;                  /* sandboxes that stand ready: none, unless said */
	unsigned seconds;               /* after which the program is ended by SIGALRM; 60 */
};

struct server {
	char address[SERVER_TEXT]; /* "http://127.0.0.1:PORT", or https */
	char token[SERVER_TEXT];   /* the owner's */
	pid_t pid;                 /* of sandbard, which is not a child of the program */
};

/* Start it and wait until it serves; dies if it does not. Once a program. OPTIONS may be NULL. */
void server_start(struct server *server, const struct server_options *options);

#endif
