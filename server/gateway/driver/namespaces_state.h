/*
 * namespaces_state.h: what the files of the driver share: namespaces.c (the table, and a sandbox's life), process.c
 * (a process's life), leaves.c (cgroups that were asked for ahead) and adoption.c (what an earlier gateway left).
 */
#ifndef SANDBAR_NAMESPACES_STATE_H
#define SANDBAR_NAMESPACES_STATE_H

#include "init_client.h"
#include "keeper_client.h"
#include "namespaces.h"
#include "start_failure.h"
#include "warm.h"

enum { LEAVES_AHEAD = 2 };

/* Something to tell, from the loop: driver.h allows no event from within a call. */
typedef void deferred_fn(struct sandbox *sandbox, uint32_t process);

struct deferred {
	struct deferred *next;
	struct sandbox *sandbox;
	deferred_fn *tell;
	uint32_t process;
};

struct namespaces {
	struct driver driver;
	struct ev_loop *loop;
	struct keeper_client *keeper;
	void (*keeper_gone)(void *owner);
	void *owner;
	struct sandbox *sandboxes;
	struct sandbox_adoption adoption;
	void *adopter;
	void (*hired)(void *owner, int socket); /* of the open WORKER request */
	void *hirer;
	struct deferred *first, *last;
	ev_prepare flush; /* is never started: it is fed an event when something is deferred */
	bool is_keeper_gone;
	struct layer_report layers; /* of the sandboxes that were made; the same for all */
	struct warm_pool warm;
	ev_timer alive; /* tells the keeper that the loop turns */
};

enum process_state {
	PROCESS_UNTOLD,   /* an earlier gateway may have started it; init has not told it yet */
	PROCESS_WAITING,  /* for its leaf, or for the end of an adoption */
	PROCESS_STARTING, /* START was sent */
	PROCESS_STARTED,
	PROCESS_EXITED,
	PROCESS_FAILED, /* start_failed is deferred */
};

struct process {
	struct process *next;
	uint32_t number;
	enum process_state state;
	struct init_start start;               /* while WAITING: the payload is held here */
	char *program, *directory;             /* argv[0] and cwd, for the text of a failure */
	uint64_t signals_leader, signals_tree; /* asked for before STARTED: bit n - 1 = signal n */
	bool close_stdin;                      /* asked for before STARTED */
	bool kill_wanted;                      /* asked for before STARTED */
	bool kill_open;                        /* KILL or KILL_TREE is not answered yet */
	bool forgotten;                        /* goes when the kill is answered */
	struct start_failure failure;
	struct rusage usage; /* of EXITED */
};

/* A leaf that the keeper made for a process that is not started yet. The descriptors of an earlier gateway's went with
 * it: they are asked for again. */
struct spare_leaf {
	struct spare_leaf *next;
	uint32_t process;
	size_t count;
	int fds[8];
};

struct sandbox {
	struct sandbox *next;
	struct namespaces *namespaces;
	const struct sandbox_events *events;
	void *owner;
	struct init_client *init; /* NULL before `created`, and after the end */
	struct process *processes;
	struct spare_leaf *spares;
	struct spare_leaf *unclaimed; /* leaves that an earlier gateway had made, for processes that init has not told */
	uint32_t next_leaf;           /* the number of the next leaf to ask for */
	uint32_t last_started;        /* the highest number that start() was called with */
	bool has_leaves;              /* the host has cgroups */
	bool is_asking;               /* one LEAF is open */
	bool is_creating;             /* CREATE is open */
	bool is_syncing;              /* it is adopted, and its processes are not all told yet */
	bool is_ending;               /* destroy() was called */
	bool is_lost;
	char session[SESSION_ID_LENGTH + 1];
};

/* namespaces.c */
void namespaces_defer(struct sandbox *sandbox, deferred_fn *tell, uint32_t process);
/* Send a request about SANDBOX; ANSWERED gets the sandbox as its owner. */
bool sandbox_ask(struct sandbox *sandbox, enum keeper_request_type type, uint32_t process, keeper_answer_fn *answered);
void sandbox_lose(struct sandbox *sandbox, const char *why);
struct sandbox *sandbox_new(struct namespaces *namespaces, const char *session, const struct sandbox_events *events,
                            void *owner);
/* The keeper handed it over: take its init's socket. */
void sandbox_connect(struct sandbox *sandbox, const struct keeper_answer *answer);

/* process.c */
extern const struct init_client_events sandbox_init_events;
void sandbox_start(struct sandbox *sandbox, const struct process_spec *spec);
void sandbox_signal(struct sandbox *sandbox, uint32_t number, int signo, enum signal_scope scope);
void sandbox_kill(struct sandbox *sandbox, uint32_t number);
void sandbox_ask_usage(struct sandbox *sandbox, uint32_t number);
void sandbox_close_stdin(struct sandbox *sandbox, uint32_t number);
void sandbox_forget(struct sandbox *sandbox, uint32_t number);
struct process *sandbox_process(const struct sandbox *sandbox, uint32_t number); /* not a forgotten one */
struct process *sandbox_add_process(struct sandbox *sandbox, uint32_t number, enum process_state state);
/* Tell at once, from the loop, that it cannot be started. */
void sandbox_refuse_start(struct process *process, struct sandbox *sandbox, const char *code, const char *message);
/* Everything was told: drop what is not, and launch what waits. */
void sandbox_release_processes(struct sandbox *sandbox);
/* Its leaf is here (COUNT descriptors, taken over), or it needs none: START it. */
void sandbox_launch(struct process *process, struct sandbox *sandbox, const int *leaf, size_t count);
/* Its leaf cannot be made. */
void sandbox_fail_start(struct process *process, struct sandbox *sandbox, const char *code, const char *message);
void sandbox_free_processes(struct sandbox *sandbox);
/* Init is gone: what only it could answer is answered. */
void sandbox_lose_processes(struct sandbox *sandbox);

/* leaves.c */
/* Ask for the leaves of the next processes, one request at a time. */
void leaves_ask(struct sandbox *sandbox);
/* Launch PROCESS if its leaf is here, fail it if there will be none; else it waits. */
void leaves_launch(struct sandbox *sandbox, struct process *process);
void leaves_free(struct sandbox *sandbox);
uint64_t leaves_ready(const struct sandbox *sandbox); /* how many are prepared for processes to come */
/* PROCESS has a leaf of an earlier gateway's. Where none uses it, it is dropped when a later process is started. */
void leaves_note(struct sandbox *sandbox, uint32_t process);
bool leaves_claim(struct sandbox *sandbox, uint32_t process);

/* adoption.c */
void namespaces_adopt(void *context, const struct sandbox_adoption *adoption, void *adopter);
/* Init tells of process NUMBER while SANDBOX is_syncing; NULL if SANDBOX was destroyed meanwhile. */
struct process *adoption_meet(struct sandbox *sandbox, uint32_t number);
void adoption_synced(void *owner);

#endif
