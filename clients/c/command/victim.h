/*
 * victim.h: a session that is made to be attacked: a program of ours is put into it over a process's stdin, so that the
 * server needs nothing but to be there, and run.
 */
#ifndef SANDBAR_COMMAND_VICTIM_H
#define SANDBAR_COMMAND_VICTIM_H

#include "context.h"

struct victim {
	struct context *context;
	const int *signal;                   /* where the number of one stands that asked for an end; 0 = none */
	char session[SANDBAR_SESSION_BYTES]; /* "" = none */
	struct sandbar_channel *channel;
	struct sandbar_error closed; /* why the channel was closed; code "" = it is open */

	uint32_t process; /* the newest that was started here */
	bool is_over;
	struct sandbar_ending ending;
	char *output; /* its stdout, ended by NUL; the victim's */
	size_t length;
	bool is_cut_off; /* there was more output than is kept */
};

/* All return 0, or -1 with ERROR. */

/* A session from TEMPLATE (NULL = the server's default). What waits fails with `interrupted` once *SIGNAL is not 0. The caller
 * ends it with victim_finish(), also after -1. */
int victim_init(struct victim *victim, struct context *context, const char *template, const int *signal,
                struct sandbar_error *error);
/* Ends the session; what cannot be ended ends by its time to live. */
void victim_finish(struct victim *victim);

/* Write a file inside, with this octal MODE ("755"). */
int victim_put(struct victim *victim, const char *path, const char *mode, const void *data, size_t length,
               struct sandbar_error *error);
/* Run ARGV (ended by NULL) with the variable ENV ("NAME=value", or NULL) to its end; see the members above. */
int victim_run(struct victim *victim, const char *const *argv, const char *env, struct sandbar_error *error);
/* Start it, wait until it has written something, and let it run. */
int victim_leave_running(struct victim *victim, const char *const *argv, const char *env, struct sandbar_error *error);

#endif
