/*
 * note.h: what a process's first steps tell init: one row of memory that init shares with the children it forks,
 * until they execute something else. A writer then closes a pipe or sends a byte of one, and only after that init reads.
 */
#ifndef SANDBAR_INIT_NOTE_H
#define SANDBAR_INIT_NOTE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

/* How a leader ended, as wait4(2) told. */
struct ending {
	int status;
	uint64_t user_us, system_us;
	uint64_t max_rss; /* bytes */
};

struct note {
	pid_t leader;    /* by itself; 0 = it never ran */
	uint64_t cgroup; /* by the leader: tree_cgroup_key() of its leaf; 0 = it has none */
	uint32_t phase;  /* by the leader, or the subreaper: what failed (enum init_phase), 0 = nothing */
	int32_t errnum;
	bool has_ended; /* by the subreaper */
	struct ending ending;
};

struct ending ending_make(int status, const struct rusage *usage);

/* PHASE of the start has failed. */
static inline void note_fail(struct note *note, uint32_t phase, int errnum)
{
	note->errnum = errnum;
	note->phase = phase;
}

#endif
