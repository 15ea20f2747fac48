/*
 * drain.h: a process that reads many connections, as fast as they have something, and counts what comes: WebSocket messages,
 * or, without decrypting them, the records of TLS. It answers no ping.
 */
#ifndef SANDBAR_BENCH_DRAIN_H
#define SANDBAR_BENCH_DRAIN_H

#include <stddef.h>
#include <stdint.h>

struct drain;

enum drain_unit { DRAIN_MESSAGES, DRAIN_RECORDS };

/* Start it with COUNT sockets of which the next byte begins a unit, which the caller closes and does not read meanwhile. It ends
 * with the caller. */
struct drain *drain_start(const int *sockets, size_t count, enum drain_unit unit);
uint64_t drain_bytes(const struct drain *drain); /* that it has read of all so far */
uint64_t drain_units(const struct drain *drain); /* that have begun in them */
void drain_stop(struct drain *drain);

#endif
