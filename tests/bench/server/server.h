/*
 * server.h: a server for the time of one benchmark program: a free port, a state directory of its own, stopped by
 * SIGTERM however the program ends. It is the one in ../../bin beside the program, or in the directory SANDBAR_BIN.
 */
#ifndef SANDBAR_BENCH_SERVER_H
#define SANDBAR_BENCH_SERVER_H

enum { SERVER_TEXT = 1024 };

struct server {
	char address[SERVER_TEXT]; /* "127.0.0.1:PORT" */
	char token[SERVER_TEXT];   /* the owner's */
};

/* Start it and wait until it serves; dies if it does not. Once a program. */
void server_start(struct server *server);

#endif
