/*
 * limits.h: what one sandbox may use, as numbers; part of a policy. A value type of fixed form: it travels
 * from gateway to keeper as it is. 0 means "no limit" only where it is said.
 */
#ifndef SANDBAR_LIMITS_H
#define SANDBAR_LIMITS_H

#include "inner_user.h"
#include "profile.h"

#include <stdbool.h>
#include <stdint.h>

struct sandbox_limits {
	uint64_t memory;      /* bytes, swap included, of all processes and of what stands on its tmpfs */
	uint64_t workspace;   /* bytes on the tmpfs that holds /work, /tmp and /dev/shm together */
	uint64_t file_size;   /* bytes of one file (RLIMIT_FSIZE); 0 = no limit */
	uint32_t processes;   /* tasks (processes and threads) at once */
	uint32_t inodes;      /* inodes on that tmpfs */
	uint32_t cpu_percent; /* percent of one core; 0 = no limit */
	uint32_t cpu_weight;  /* its share of processor time beside other sandboxes', where there is not enough for all */
	uint32_t open_files;  /* RLIMIT_NOFILE of each process */
	uint32_t ptys;        /* terminals at once (devpts max=) */
	uint32_t profile;     /* the system calls: enum profile */
	uint32_t own_time;    /* 1: a time namespace, in which the clocks since boot begin with the sandbox */
	uint32_t user;        /* who its processes are: enum inner_user */
};

/* The limits of a session that asked for nothing. */
struct sandbox_limits sandbox_limits_default(void);

/* NULL if every number is in its range, else a text that says which is not, and what is allowed. */
const char *sandbox_limits_check(const struct sandbox_limits *limits);

bool sandbox_limits_are_equal(const struct sandbox_limits *one, const struct sandbox_limits *other);

#endif
