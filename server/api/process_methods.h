/*
 * process_methods.h: the methods `process.…`: what they take, and their handlers.
 */
#ifndef SANDBAR_PROCESS_METHODS_H
#define SANDBAR_PROCESS_METHODS_H

#include "method.h"

enum { RUN_BYTES = 1024 * 1024 }; /* most bytes of input, and of each stream in the answer, of process.run */

struct start_args {
	const char *session, *cwd, *name;
	const char **argv, **env, **context;
	struct {
		uint64_t cols, rows;
	} terminal;
	bool has_terminal, wants_stdin;
	uint64_t wall_ms, cpu_ms, idle_ms, output_bytes, grace_ms, disconnect_ms;
	int on_exit, on_disconnect; /* 0 keep, 1 kill */
	struct view input;          /* of process.run */
	uint64_t max_output;
};

struct list_args {
	const char *session;
	uint64_t after;
};

struct process_args {
	const char *session;
	uint64_t process, grace_ms;
	const char *signal;
	int scope;
};

extern const struct param start_params[], run_params[], list_params[], process_params[], signal_params[], kill_params[];
extern const struct start_args start_defaults;

void handle_process_start(struct call *call, const void *args);
void handle_process_run(struct call *call, const void *args);
void handle_process_list(struct call *call, const void *args);
void handle_process_signal(struct call *call, const void *args);
void handle_process_kill(struct call *call, const void *args);
void handle_process_wait(struct call *call, const void *args);

/* Whether the host can keep what the arguments demand; else the call is failed. (process.run has a file of its own.) */
bool can_start(struct call *call, const struct session *session, const struct start_args *args);
/* Start a process, and answer {process, seq}. */
void call_start_process(struct call *call, struct session *session, const struct process_options *options);
struct process_options start_options(const struct call *call, const struct start_args *args);

#endif
