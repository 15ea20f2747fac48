/*
 * house.h: a registry of sessions on a loop, over a driver that does nothing by itself: it records what it is asked for,
 * and the test says what comes of it, with pipes and terminals whose other ends the test holds. This is the seam that
 * sandbox/driver.h was made for.
 */
#ifndef SANDBAR_TESTS_HOUSE_H
#define SANDBAR_TESTS_HOUSE_H

#include "server/session/session.h"

#include <ev.h>

enum { HOUSE_PROCESSES = 1100, HOUSE_SIGNALS = 16 };

/* One process as the driver knows it. */
struct actor {
	uint32_t number;
	bool terminal, wants_stdin;
	int in, out, err; /* the test's ends; of a terminal `out` is the slave, and `in` is -1; -1: closed */
	char **env;       /* as start() got it, ended by NULL */
	struct {
		int number;
		enum signal_scope scope;
	} signals[HOUSE_SIGNALS];
	unsigned signal_count, kills, usages, stdin_closes, forgets;
};

struct sandbox {
	const struct sandbox_events *events;
	void *owner;
	struct sandbox_spec spec;
	unsigned measures;
	unsigned destroys, strangers; /* strangers: forgets of processes that it does not know */
	struct actor *actors[HOUSE_PROCESSES];
	size_t actor_count;
};

/* Who waits for a session or a process, and what was heard. */
struct ear {
	struct session_watch session;
	struct process_watch process;
	unsigned created, failed, ended, started, not_started, done, empty;
	char code[32], message[128];
	size_t output; /* bytes that the process's watch heard */
};

struct house {
	struct ev_loop *loop;
	struct driver driver;
	struct sessions sessions;
	char folder[40];
	struct sandbox *sandbox; /* the last one that was made; freed with the house */
	struct session *session; /* the last one that was created; NULL again when it was freed */
	struct sandbox *sandboxes[16];
	size_t sandbox_count;
};

/* A house with a running session in it, or without. RING 0: the least. */
void house_open(struct house *house, uint64_t ring);
void house_open_empty(struct house *house, uint64_t ring);
/* Ends what is left, without channels, and asserts that nothing remains: no session, no file. */
void house_close(struct house *house);

struct session *house_create(struct house *house, struct ear *ear);
void house_created(struct house *house);
void house_measured(struct house *house, uint64_t memory, uint64_t tasks); /* the rest is not known */
void house_destroyed(struct house *house);             /* the driver says so; it must have been asked to destroy */
void house_turn(struct house *house);                  /* let the loop do everything that is ready */
void house_fire(struct house *house, ev_timer *timer); /* as if its time had come; it must be running */

/* Start, and have it started; `sh` is its argv. EAR may be NULL; else it hears everything of the process. */
struct process *house_start(struct house *house, struct process_options options, struct ear *ear);
struct process *house_ask_start(struct house *house, struct process_options options, struct ear *ear);
struct actor *house_actor(struct house *house, const struct process *process);
void actor_started(struct house *house, struct actor *actor);
void actor_exited(struct house *house, struct actor *actor, int wait_status);
void actor_usage(struct house *house, struct actor *actor, uint64_t populated);
void actor_killed(struct house *house, struct actor *actor);
void actor_close(struct actor *actor);                      /* all ends that the test holds */
void actor_write(int fd, const void *bytes, size_t length); /* all of it must fit */
/* Write it to FD, an end of PROCESS's, and let the session take it, which must be able to. */
void house_produce(struct house *house, struct process *process, int fd, const void *bytes, size_t length);
/* As much as there is at FD now, at most SIZE. */
size_t actor_read(int fd, void *bytes, size_t size);
/* It exits with STATUS, closes its ends, and the counters say that nothing of it lives. */
void actor_is_over(struct house *house, struct actor *actor, int wait_status);

#define EXIT_STATUS(code) ((code) << 8) /* as wait(2) encodes it */

#endif
