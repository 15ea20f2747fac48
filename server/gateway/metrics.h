/*
 * metrics.h: what the operator's monitoring reads at /metrics, in the OpenMetrics text format (1.0).
 */
#ifndef SANDBAR_METRICS_H
#define SANDBAR_METRICS_H

#include <ev.h>
#include <stddef.h>
#include <stdint.h>

struct gateway;

enum { METRICS_TURN_BUCKETS = 7 };

/* What the gateway itself counts; part of struct gateway. */
struct metrics {
	uint64_t connections; /* since the start */
	uint64_t sent_bytes, sent_messages, received_bytes, received_messages;
	uint64_t turns[METRICS_TURN_BUCKETS]; /* of the loop, by how long each took */
	double turn_seconds;                  /* of all */
	ev_tstamp woke;                       /* when the turn began that is going on */
	int statm; /* of /proc, which can be opened before the gateway has confined itself, and not after */
	ev_prepare prepare;
	ev_check check;
};

void metrics_begin(struct metrics *metrics, struct ev_loop *loop);
void metrics_end(struct metrics *metrics, struct ev_loop *loop);

#define METRICS_TYPE "application/openmetrics-text; version=1.0.0; charset=utf-8"
/* The text; the caller frees it. */
char *metrics_text(const struct gateway *gateway, size_t *length);

#endif
