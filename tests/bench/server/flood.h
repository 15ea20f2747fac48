/*
 * flood.h: a session that floods without an end, with a reader of its own in another process.
 */
#ifndef SANDBAR_BENCH_FLOOD_H
#define SANDBAR_BENCH_FLOOD_H

#include "server.h"

/* Returns when the first megabyte was read. The reader ends with this program. */
void flood_start(const struct server *server);

#endif
