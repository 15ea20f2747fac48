/*
 * role_methods.h: the methods `session.role`, `session.remove` and `session.note`: what they take, and their handlers.
 */
#ifndef SANDBAR_ROLE_METHODS_H
#define SANDBAR_ROLE_METHODS_H

#include "method.h"

enum { NOTE_BYTES = 1024 };

struct role_args {
	const char *session;
	uint64_t participant;
	int role; /* index + 1 = enum role */
};

struct note_args {
	const char *session, *text;
	struct optional_uint process;
};

extern const struct param role_params[], remove_params[], note_params[];

void handle_session_role(struct call *call, const void *args);
void handle_session_remove(struct call *call, const void *args);
void handle_session_note(struct call *call, const void *args);

#endif
