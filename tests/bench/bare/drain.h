/*
 * drain.h: a process that reads many WebSockets, as fast as they have something, and counts. It answers no ping.
 */
#ifndef SANDBAR_BENCH_DRAIN_H
#define SANDBAR_BENCH_DRAIN_H

#include <stddef.h>
#include <stdint.h>

struct drain;

/* Start it with COUNT sockets of which the next byte begins a message, which the caller closes and does not read meanwhile. It ends with the caller. */
struct drain *drain_start(const int *sockets, size_t count);
uint64_t drain_bytes(const struct drain *drain);    /* that it has read of all so far */
uint64_t drain_messages(const struct drain *drain); /* that have begun in them */
void drain_stop(struct drain *drain);

#endif
