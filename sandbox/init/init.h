/*
 * init.h: the loop of a sandbox's PID 1. It reads requests, starts processes, reaps everything, and tells the gateway.
 *
 * While the socket takes no more, no request is read either: what is owed is bounded by the table of processes.
 */
#ifndef SANDBAR_INIT_INIT_H
#define SANDBAR_INIT_INIT_H

#include "denial.h"
#include "process.h"
#include "settings.h"
#include "spare.h"

/* Descriptors in the epoll set: below INIT_PROCESSES it is a row's outcome. */
enum watch { WATCH_CONTROL = INIT_PROCESSES, WATCH_SIGNALS, WATCH_REPORTS, WATCH_DENIALS };

struct init {
	struct settings settings;
	int control;                 /* the socket */
	int signals;                 /* a signalfd of SIGCHLD */
	int reports[2];              /* a pipe: subreapers write a row's index when its leader has ended */
	int poll;                    /* the epoll descriptor */
	uint64_t epoch;              /* of the gateway that is obeyed */
	struct init_message refusal; /* to be sent; type 0 = none */
	bool owes_synced, owes_sync_done;
	size_t unanswered;  /* STARTs from before the last SYNC: SYNC_DONE waits for them */
	uint32_t watched;   /* the events for which the control socket is watched */
	bool is_blocked;    /* what is owed could not be sent */
	bool waits_by_time; /* and no event will tell when it can */
	bool has_zombies;   /* the last turn left some to be reaped */
	bool is_gone;       /* the other end is closed */
	struct spare spares[SPARES];
	struct denial_pace pace;
	struct denials strays; /* refusals of which it cannot be said whose process made them */
	bool owes_stray;
	struct process_table table;
};

/* Make the loop over CONTROL (taken over, non-blocking from here on); SIGCHLD is blocked from here on. SETTINGS are
 * copied, what they point to is borrowed. NULL with errno. destroy() closes what it holds; it kills nothing. */
struct init *init_create(int control, const struct settings *settings);
void init_destroy(struct init *init); /* NULL is allowed */

/* Tell that init is ready: SYNCED with epoch 0. */
void init_announce(struct init *init);

/* Wait at most TIMEOUT_MS (-1: as long as it takes) and handle what there is. False when the other end is closed. */
bool init_turn(struct init *init, int timeout_ms);

#endif
