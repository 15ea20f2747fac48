/*
 * lookout.h: at which offset a session's streams go on behind some event, which STATE tells.
 *
 * Mostly that is known: a stream whose newest OUTPUT stands before the event goes on where it is now. Else the events from
 * there on are looked through for its next OUTPUT, a bounded piece in each turn of the loop for all sessions together,
 * whoever asks; and what was found is remembered for the next who asks the same.
 */
#ifndef SANDBAR_LOOKOUT_H
#define SANDBAR_LOOKOUT_H

#include "history.h"

#include <ev.h>
#include <sys/queue.h>

struct process;
struct sessions;
struct sought;

enum {
	LOOKOUT_TURN = 1024 * 1024, /* most bytes of events that one turn of the loop looks through … */
	LOOKOUT_EVENT = 512,        /* … where each event counts as so many more: the small ones take the time */
};

/* No OUTPUT of a stream stands in FROM ... UNTIL - 1, and what follows goes on at OFFSET. UNTIL 0: nothing is known. */
struct quiet {
	uint64_t from, until, offset;
};

struct lookout { /* one of each session; all zero: it does not look */
	TAILQ_ENTRY(lookout) link;
	struct session *session;
	struct history at;
	uint64_t from, until;
	struct sought *rows; /* processes, in the order of their numbers */
	size_t count, unseen;
	bool is_looking, is_queued, is_awaited;
};

struct lookouts {
	TAILQ_HEAD(, lookout) queue; /* take turns */
	ev_timer turn;
	unsigned iteration; /* of the loop, in which LEFT bytes may still be looked through */
	size_t left;
};

void lookouts_init(struct sessions *sessions);
void lookouts_finish(struct sessions *sessions);

/* The offset at which stream I of PROCESS goes on from event NEXT on. False: it has to be looked for. */
bool lookout_offset(const struct process *process, size_t i, uint64_t next, uint64_t *offset);
/* Look for what is not known of event NEXT. It may be known when this returns; else waker_tell() follows when more is. */
void lookout_ask(struct session *session, uint64_t next);
/* It looks on by itself: asking again is of no use before waker_tell(). */
bool lookout_is_under_way(const struct session *session);
void lookout_stop(struct session *session);

#endif
