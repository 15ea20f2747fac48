/*
 * meter.h: what a session uses. It is measured while somebody looks: every few seconds while a process, or what one has left
 * behind, runs and a channel is attached, and when somebody asks; else not at all. That a limit is nearly reached is an event
 * (USAGE).
 */
#ifndef SANDBAR_METER_H
#define SANDBAR_METER_H

#include "protocol/writer.h"
#include "sandbox/driver.h"

#include <ev.h>
#include <sys/queue.h>

struct session;

/* Somebody who waits for a measurement; owned by the waiter, out of the list before it is called. */
struct meter_watch {
	LIST_ENTRY(meter_watch) link;
	void (*measured)(struct meter_watch *watch, struct session *session);
};

struct meter {
	struct session *session;
	struct sandbox_usage newest;
	uint64_t newest_us; /* since the session was made; 0 = never */
	bool is_open;       /* the driver was asked */
	bool is_changed;    /* a process came or went since it was asked: what it left behind is not known */
	uint32_t near;      /* limits that are nearly reached, as bits */
	ev_timer timer;
	LIST_HEAD(, meter_watch) watches;
};

void meter_init(struct meter *meter, struct session *session);
/* What an earlier gateway told stands in the session's records: if it holds no more, that is told. */
void meter_restore(struct meter *meter);
/* No more is measured; who waits is told what was known. May be repeated. */
void meter_stop(struct meter *meter);

/* A channel came, or a process was started or is done: look now, and again if that makes sense. */
void meter_wake(struct meter *meter);
/* WATCH hears when it was measured, perhaps at once. */
void meter_ask(struct meter *meter, struct meter_watch *watch);
/* Measure, without waiting for it, if the newest is older than a second. */
void meter_refresh(struct meter *meter);
/* What the driver told. */
void meter_took(struct meter *meter, const struct sandbox_usage *usage);

/* The map of the newest, or nil. */
void meter_write(struct writer *writer, const struct meter *meter);

#endif
