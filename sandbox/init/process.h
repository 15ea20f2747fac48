/*
 * process.h: the processes that init knows, as rows of a table, and what may happen to each: a state machine. What
 * the gateway is still to be told is part of a row's state, never a list, so that nothing grows while nobody reads.
 */
#ifndef SANDBAR_INIT_PROCESS_H
#define SANDBAR_INIT_PROCESS_H

#include "denial.h"
#include "note.h"
#include "streams.h"
#include "tree.h"
#include "wire.h"

#include <stddef.h>

enum process_state {
	PROCESS_FREE,
	PROCESS_STARTING, /* forked; not yet known whether it could be executed */
	PROCESS_FAILED,   /* it could not; the row goes when that is told */
	PROCESS_RUNNING,
	PROCESS_EXITED, /* its ending is kept until FORGET */
	PROCESS_LEFT,   /* forgotten, or told that it failed; the row waits for its subreaper to end */
	PROCESS_STATES
};

enum process_event {
	PROCESS_DECIDED,  /* the outcome's pipe is closed: the note says whether it was executed */
	PROCESS_ENDED,    /* the note has its ending */
	PROCESS_ORPHANED, /* its subreaper is gone, and no ending was noted */
	PROCESS_EMPTIED,  /* its subreaper is gone, since nothing was left below it */
	PROCESS_FORGET,   /* asked for */
	PROCESS_EVENTS
};

/* What the gateway is still to be told. */
enum {
	OWES_ANSWER = 1u << 0,
	OWES_EXITED = 1u << 1,
	OWES_KILLED = 1u << 2,
	OWES_DENIED = 1u << 3,
	OWES_EMPTY = 1u << 4,
};

struct process {
	uint32_t number; /* the gateway's; 0 = none */
	enum process_state state;
	uint32_t flags;   /* INIT_TERMINAL, INIT_SUBREAPER, INIT_SHELL, INIT_LOST */
	uint32_t owed;    /* OWES_… */
	bool is_answered; /* START was: it is no longer in the queue */
	bool is_killing;
	bool is_empty;     /* nothing of its tree lives, as its subreaper saw */
	bool is_wide;      /* has a wide pipe */
	bool is_spare;     /* a spare was to become it */
	unsigned attempts; /* of killing */
	pid_t child;       /* init's own: the leader or the subreaper; 0 when it was reaped */
	int outcome_fd;    /* read end; -1 */
	struct streams streams;
	struct denials denials;
	struct note *note; /* the row's place in the shared memory */
};

struct process_table {
	struct process rows[INIT_PROCESSES];
	struct note *notes;             /* INIT_PROCESSES of them, shared with children */
	size_t count;                   /* rows from here on are free */
	size_t wide;                    /* how many have a wide pipe */
	uint16_t queue[INIT_PROCESSES]; /* rows whose START is unanswered, in the order of the requests: a ring */
	size_t queue_head, queue_count;
};

/* Returns 0, or -1 with errno. finish() closes what the rows hold; it kills nothing. */
int process_table_init(struct process_table *table);
void process_table_finish(struct process_table *table);

/* A new row, STARTING and last of the queue; NULL if the table is full. */
struct process *process_add(struct process_table *table, uint32_t number, uint32_t flags);
struct process *process_find(struct process_table *table, uint32_t number); /* NULL if it is not known */
struct process *process_find_child(struct process_table *table, pid_t pid);
uint32_t process_index(const struct process_table *table, const struct process *process);
/* The row whose START is to be answered next, NULL if there is none. */
struct process *process_next_unanswered(struct process_table *table);
/* Its START was answered. A row that failed is forgotten with it. */
void process_set_answered(struct process_table *table, struct process *process);

/* It failed before there was a child. */
void process_fail(struct process *process, enum init_phase phase, int errnum);

/* Let EVENT happen to it. Returns 0, or the errno with which a request is refused. */
int process_handle(struct process_table *table, struct process *process, enum process_event event);

/* PROCESS_DECIDED, if the outcome's pipe is closed by now. */
void process_settle(struct process_table *table, struct process *process);

/* The functions below return 0, or the errno with which the request is refused. */
int process_signal(struct process *process, int signo);
int process_signal_tree(struct process *process, int signo);
int process_signal_below(struct process *process, int signo); /* the tree without its leader */
int process_kill_tree(struct process *process);

/* One step of killing its tree; no more is needed when is_killing is off again. */
void process_kill_step(struct process *process);

#endif
