/*
 * child.h: what a child of init does between fork and exec, step by step. It is an ordinary copy of init (not a
 * vfork), since it may be frozen with its leaf, or stopped by the user's processes, and init must go on meanwhile.
 */
#ifndef SANDBAR_INIT_CHILD_H
#define SANDBAR_INIT_CHILD_H

#include "note.h"
#include "payload.h"
#include "settings.h"
#include "streams.h"

#include <stddef.h>

/* All borrowed. */
struct child_plan {
	const struct settings *settings;
	const struct payload *payload;
	struct note *note;
	const struct stdio *stdio;
	bool has_terminal, is_shell;
	int outcome_fd;      /* a close-on-exec pipe's end: its closing tells that the note is complete */
	const int *leaf_fds; /* cgroup.procs of its leaf in each hierarchy */
	size_t leaf_count;
};

/* Become the user's process; or note what failed, and end. */
_Noreturn void child_run(const struct child_plan *plan);

/* The same in two parts: what needs the leaf alone (false: it was noted what failed), and the rest. */
bool child_prepare(const struct child_plan *plan);
_Noreturn void child_become(const struct child_plan *plan);

#endif
