/*
 * execution.h: one command in a session, with this program's stdin, stdout and stderr as its own: `run` and `exec`.
 */
#ifndef SANDBAR_COMMAND_EXECUTION_H
#define SANDBAR_COMMAND_EXECUTION_H

#include "context.h"
#include "outlet.h"
#include "pump.h"

struct execution {
	struct context context;
	const struct options *options;
	char session[SANDBAR_SESSION_BYTES];
	bool is_own; /* `run`: the session is ours alone, and ended with the command */
	struct sandbar_channel *channel;
	uint32_t process; /* 0: not started */
	uint32_t started; /* the process that a STARTED event told of */
	bool is_live;

	struct outlet outlet;
	struct pump pump;

	bool is_raw; /* our own terminal */
	bool has_ending, has_lost, must_leave, is_detached, was_asked, has_told_of_driver;
	struct sandbar_ending ending;
	struct sandbar_error closed; /* why the channel was closed; code "" = it is open */
	int write_errno;             /* stdout or stderr takes no more */
	int signal;                  /* the last that this program got */
	unsigned interrupts;         /* signals that asked for an end */
};

/* Both return the exit code. */
int execution_run(struct options *options);
int execution_exec(struct options *options);

#endif
