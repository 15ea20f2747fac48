/*
 * shell.h: a process that is a shell and keeps directory, variables, functions and options between the commands that it is
 * given, one at a time. Where a command ends, and its exit code, come over a pipe of their own, with a nonce.
 *
 * A shell belongs to its process. It begins with process_started(), and is freed by itself when the process is done.
 *
 * A command that must end is interrupted as by ^C, which the shell survives; then what it started is ended; a shell that
 * does not come back even so is ended and lost. A shell that takes what is written and does not tell a status any more
 * (a command took the means from it) is found out within seconds, and ended, too.
 */
#ifndef SANDBAR_SHELL_H
#define SANDBAR_SHELL_H

#include "protocol/wire.h"
#include "shell_text.h"

#include <sys/queue.h>

struct process;
struct shell;

enum { SHELL_QUEUE = 16, SHELL_STREAMS = 2, SHELL_COMMAND_BYTES = 3 * 1024 * 1024 };

enum shell_state {
	SHELL_DONE,        /* the command ended by itself, and the shell goes on */
	SHELL_INTERRUPTED, /* it was made to end, and the shell goes on */
	SHELL_EXITED,      /* the shell ended with it */
	SHELL_LOST,        /* the shell had to be ended */
};

struct shell_result {
	enum shell_state state;
	int exit_code;   /* -1: it cannot be known */
	const char *cwd; /* NULL: the shell is gone */
	size_t cwd_length;
	const char *message;                             /* why it is lost, or NULL */
	uint64_t from[SHELL_STREAMS], to[SHELL_STREAMS]; /* offsets of stdout and stderr: what it wrote */
};

/* A command for a shell; who makes it owns it. It is out of the shell before `done` or `refused` is called. */
struct shell_run {
	TAILQ_ENTRY(shell_run) link;
	struct shell_text text; /* command and input must live as long */
	uint64_t wall_ms, grace_ms;
	void (*output)(struct shell_run *run, enum stream stream, const uint8_t *bytes, size_t length);
	void (*done)(struct shell_run *run, const struct shell_result *result); /* RESULT is borrowed */
	void (*refused)(struct shell_run *run);                                 /* the shell ended before its turn came */
};

extern const char *const shell_argv[];

/* PROCESS, a shell, was started, or is taken over (IS_RESTORED) from a gateway that may have left a command in it, which is
 * then interrupted as one whose client left. The descriptors become the shell's. */
void shell_open(struct process *process, int command_fd, int status_fd, bool is_restored);
/* Free it without a word; NULL is allowed. */
void shell_close(struct shell *shell);

/* Queue RUN. False: SHELL_QUEUE wait already. */
bool shell_take(struct shell *shell, struct shell_run *run);
/* Give RUN up. True: it had not begun, and is the caller's again. False: it is interrupted, and `done` will be called. */
bool shell_cancel(struct shell *shell, struct shell_run *run);

const char *shell_state_name(enum shell_state state);

#endif
