/*
 * process.h: one command of a session, from its start until nothing of it is left to tell.
 *
 * A process belongs to its session, which frees it. Its states:
 *
 *   STARTING  the driver was asked; it stands in no list yet
 *   RUNNING   STARTED is in the journal, output flows
 *   REAPED    its leader's wait status is known; what it had written is being drained
 *   DONE      EXITED is in the journal; descendants may still hold streams, whose output keeps coming
 *
 * EXITED is written when all of this holds: the leader was reaped, its streams are drained, the kernel's counters
 * are known, and, where the whole tree had to end (a clock, a limit, a kill, on_exit), the tree is empty.
 */
#ifndef SANDBAR_PROCESS_H
#define SANDBAR_PROCESS_H

#include "clocks.h"
#include "display.h"
#include "ending.h"
#include "input.h"
#include "lookout.h"
#include "record.h"
#include "sharing.h"
#include "source.h"

#include <ev.h>
#include <sys/queue.h>

struct session;
struct process;

enum process_state { PROCESS_STARTING, PROCESS_RUNNING, PROCESS_REAPED, PROCESS_DONE };

/* What a client may ask for; times in milliseconds, 0 = none. Pointers are borrowed during process_start(). */
struct process_options {
	const char *const *argv; /* ended by NULL, at least one */
	const char *const *envp; /* entries beside the session's, ended by NULL */
	const char *cwd;
	const char *name, *by;      /* by: the principal */
	const char *const *context; /* as context.h; at most CONTEXT_PROCESS_BYTES */
	bool terminal, wants_stdin, kill_on_exit, kill_on_disconnect;
	bool is_shell; /* it is shell_argv (shell.h) */
	bool is_run;   /* a request waits for its output: it does not outlive the connection */
	uint16_t cols, rows;
	uint64_t wall_ms, cpu_ms, idle_ms, output_bytes, grace_ms, disconnect_ms;
	uint8_t client[CLIENT_ID_BYTES]; /* who started it; for kill_on_disconnect */
	const uint8_t *input;            /* NULL, or bytes that are its whole input: at most LIMIT_STDIN_WINDOW */
	size_t input_length;
};

/* Somebody who waits for a moment of a process. The watcher owns the struct; it is taken out of the list before
 * `done`, `not_started` or `empty` is called, and may be freed there. Members may be NULL. */
struct process_watch {
	LIST_ENTRY(process_watch) link;
	void (*started)(struct process_watch *watch, struct process *process);
	void (*not_started)(struct process_watch *watch, const char *code, const char *message);
	void (*output)(struct process_watch *watch, enum stream stream, const uint8_t *bytes, size_t length);
	void (*done)(struct process_watch *watch, struct process *process);
	void (*empty)(struct process_watch *watch, struct process *process); /* its tree is empty */
};

struct process {
	TAILQ_ENTRY(process) link; /* in its session */
	struct session *session;
	LIST_HEAD(, process_watch) watches;
	struct process_record *record; /* its row in the session's records */
	uint32_t number;
	enum process_state state;
	bool awaits_init; /* restored: init has not said yet that it knows it */
	bool terminal, wants_stdin, kill_on_exit, kill_on_disconnect, is_run, is_shell;
	bool held;       /* a lossless channel is behind: its streams are not read */
	bool is_overdue; /* it exited a while ago: nobody holds the rest of its output back any more */
	bool must_empty; /* EXITED waits until the tree is empty */
	bool is_empty, usage_known, kill_sent, forgotten;
	uint32_t usage_asked, usage_answered,
		usage_needed; /* answers come in order: one asked for before the end is stale */
	uint16_t cols, rows;
	uint64_t output_limit, output_total, grace_ms, idle_ms, cpu_ms, wall_ms, disconnect_ms;
	uint8_t client[CLIENT_ID_BYTES];
	struct source sources[PROCESS_STREAMS];
	uint64_t newest[PROCESS_STREAMS];     /* no OUTPUT of the stream has a higher seq; 0: there is none */
	struct quiet looked[PROCESS_STREAMS]; /* what was found of its streams (lookout.h) */
	size_t source_count;
	struct input input;
	struct sharing sharing; /* of its terminal */
	struct display display;
	struct shell *shell; /* of one that runs; else NULL */
	struct intervention intervention;
	struct ending ending;
	int wait_status;
	uint64_t started_seq, exited_seq, started_us;
	ev_timer wall, idle, poll, grace, disconnect, quiet, overdue; /* poll: asks for usage (cpu clock, emptiness) */
	uint8_t *first_input;                                         /* process_options.input, until it was started */
	size_t first_input_length;
	uint8_t *start_map; /* the entries of STARTED's map, encoded, without its head */
	size_t start_map_length;
};

TAILQ_HEAD(process_list, process);

/* A process map is small, since a message holds many and may have 65,536 values and 4 MiB. */
enum { PROCESS_START_KEYS = 8, ARGV_SHOWN = 16, ARGV_SHOWN_BYTES = 1024, CWD_SHOWN_BYTES = 512, PROCESS_MAPS = 512 };

/* Ask the driver for a process. WATCH hears `started` or `not_started`. NULL when its record has no room. */
struct process *process_start(struct session *session, uint32_t number, const struct process_options *options,
                              struct process_watch *watch);
/* One that is in no list and known to nobody (process_record.c makes restored ones of it). */
struct process *process_create(struct session *session, uint32_t number, const struct process_options *options);
void process_free(struct process *process); /* closes everything; asserts that nobody watches */

/* End its whole tree for REASON: TERM and, after GRACE_MS, KILL; 0 = KILL at once. The first reason holds. */
void process_end(struct process *process, enum reason reason, const char *control, uint64_t grace_ms);
/* False when the session's sandbox is being destroyed. */
bool process_signal(struct process *process, int signo, enum signal_scope scope);
/* Tell WATCH (`empty`) when nothing of its tree lives. */
void process_kill(struct process *process, uint64_t grace_ms, struct process_watch *watch);
bool process_resize(struct process *process, uint16_t cols, uint16_t rows); /* false: it has no terminal any more */

/* Ask the driver for the kernel's counters; and to kill the tree, at once. */
void process_ask_usage(struct process *process);
void process_kill_now(struct process *process);
/* A gateway that died was ending it: KILL comes when its grace is over. */
void process_end_goes_on(struct process *process);

/* The client that started it left, or is there again. */
void process_client_left(struct process *process);
void process_client_back(struct process *process);

/* Its row in the records: made before the driver is asked, stored where something changes. */
bool process_record_make(struct process *process, const struct process_options *options); /* false: no room */
void process_save(struct process *process);
struct process *process_restore(struct session *session, struct process_record *record);
void process_restore_sources(struct process *process);
/* Init was asked: a restored process that it does not know is lost, or was never started. */
void process_missed(struct process *process);

/* What the driver tells (from session.c's table of events). */
void process_started(struct process *process, const struct process_streams *streams);
void process_start_failed(struct process *process, int exit_code, const char *code, const char *message);
void process_exited(struct process *process, int wait_status, const struct rusage *usage);
void process_killed(struct process *process);
void process_usage(struct process *process, const struct process_usage *usage);
void process_lost(struct process *process, const char *message);

/* Write EXITED if all that it must come after is there. */
void process_settle(struct process *process);
/* Once it is DONE, its streams have ended and its tree is empty, the driver need not know it any more. */
void process_forget_if_over(struct process *process);

/* Nothing of its tree lives: tell who waits for that. */
void process_tell_empty(struct process *process);

/* Keep what STARTED and lists say of it (process_map.c). */
void process_remember_start(struct process *process, const struct process_options *options);
size_t process_offsets(const struct process *process, struct stream_offset offsets[PROCESS_STREAMS]);
/* The process map of PROTOCOL.md §4.2, as it was after event AS_OF, with OFFSETS. */
void process_write(struct writer *writer, const struct process *process, uint64_t as_of,
                   const struct stream_offset offsets[PROCESS_STREAMS]);
void process_write_ending(struct writer *writer, const struct process *process);

#endif
