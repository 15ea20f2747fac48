/*
 * server.h: from the command line to a running server and back: each step of the start, in its order.
 */
#ifndef SANDBAR_SERVER_H
#define SANDBAR_SERVER_H

#include "options.h"

/* Start, serve until stopped, and clear up. Returns an enum exit_code; what went wrong was said on stderr. */
int server_run(const struct options *options);

#endif
