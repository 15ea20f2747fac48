/*
 * shell_methods.h: the methods `shell.…`: commands in a shell that keeps its state between them.
 */
#ifndef SANDBAR_SHELL_METHODS_H
#define SANDBAR_SHELL_METHODS_H

#include "method.h"

struct shell_start_args {
	const char *session, *cwd, *name;
	const char **env;
};

struct shell_run_args {
	const char *session, *command;
	uint64_t process, wall_ms, grace_ms, max_output;
	struct view input;
	bool stream;
};

extern const struct param shell_start_params[], shell_run_params[];
extern const struct shell_start_args shell_start_defaults;
extern const struct shell_run_args shell_run_defaults;

void handle_shell_start(struct call *call, const void *args);
void handle_shell_run(struct call *call, const void *args);

#endif
