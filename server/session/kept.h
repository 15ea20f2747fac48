/*
 * kept.h: sessions that have ended and can still be read: their record is kept within bounds of number, bytes and age, the
 * oldest goes first. Of each only a row is in memory; it becomes a session again, which only replays, while somebody
 * reads it.
 */
#ifndef SANDBAR_KEPT_H
#define SANDBAR_KEPT_H

#include "sandbox/error.h"

#include <ev.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

struct session;
struct sessions;

enum { KEPT_OPEN = 4 /* sessions that stay open for a moment after somebody read them */ };

struct kept_session {
	TAILQ_ENTRY(kept_session) link;
	char id[17], name[65], tenant[64], template[65];
	const char *end_reason;        /* static */
	uint64_t created_us, ended_us; /* since 1970 */
	uint64_t last;                 /* seq of its last event */
	uint64_t recorded;             /* the newest event of its record, or 0: it was not looked at yet */
	uint64_t bytes;                /* on disk */
	bool is_unsaved;               /* its session.json does not say yet that it ended: the disk was full */
};

struct kept {
	TAILQ_HEAD(kept_sessions, kept_session) list; /* the one that ended first is the first */
	size_t count, most;                           /* most 0: none is kept */
	uint64_t bytes, most_bytes, most_age_ms;
	ev_timer sweep;
	struct session *open[KEPT_OPEN]; /* that nobody reads, or NULL */
	size_t next_open;                /* whose place the next one takes */
};

void kept_init(struct sessions *sessions);
void kept_finish(struct sessions *sessions);

/* Keep SESSION, which has ended and whose journal is gone: only its files are looked at. */
void kept_add(struct sessions *sessions, const struct session *session);
/* A session's directory that an earlier gateway left: true if it is one of an ended session, which is kept. */
bool kept_restore(struct sessions *sessions, const char *id);
/* One that cannot go on: it ends as lost, and what can be read of its record is kept. False if that is nothing. */
bool kept_salvage(struct sessions *sessions, const char *id);
uint64_t kept_now_us(void); /* since 1970 */
/* From here on the record of an ended session is all there is. */
void kept_unlink_journal(const struct sessions *sessions, const char *id);
/* Drop what is over the bounds. */
void kept_sweep(struct sessions *sessions);

bool kept_has(const struct sessions *sessions, const char *id, const char *tenant);
/* The session ID of TENANT, to be read; NULL if none is kept, or with ERR set when it cannot be read any more. It goes a
 * moment after its last channel, or session_channel_gone(): for that time sessions_find() finds it, since opening it takes
 * the loop's time. */
struct session *kept_open(struct sessions *sessions, const char *id, const char *tenant, struct error *err);
/* Nobody reads SESSION any more: it may stay open. Another one, which has for longer, goes. */
void kept_stays_open(struct session *session);
/* Close it, unless somebody reads it again. */
void kept_close(struct session *session);

#endif
