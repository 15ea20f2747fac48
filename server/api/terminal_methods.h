/*
 * terminal_methods.h: the methods `terminal.…`: who drives a shared terminal, and how it is shared.
 */
#ifndef SANDBAR_TERMINAL_METHODS_H
#define SANDBAR_TERMINAL_METHODS_H

#include "method.h"

struct terminal_set_args {
	const char *session;
	uint64_t process;
	int input, size; /* indices of the rows' choices; -1: not given */
	struct optional_uint cols, rows;
};

struct terminal_args {
	uint64_t channel, process, participant;
};

extern const struct param terminal_set_params[], terminal_params[], terminal_grant_params[];
extern const struct terminal_set_args terminal_set_defaults;

void handle_terminal_set(struct call *call, const void *args);
void handle_terminal_take(struct call *call, const void *args);
void handle_terminal_release(struct call *call, const void *args);
void handle_terminal_grant(struct call *call, const void *args);
void handle_terminal_request(struct call *call, const void *args);

#endif
