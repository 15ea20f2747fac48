/*
 * reserve.h: descriptors that are kept back for ending things: whoever makes sandboxes must not use up what is needed
 * to kill them.
 */
#ifndef SANDBAR_RESERVE_H
#define SANDBAR_RESERVE_H

#include "sandbox/error.h"

enum {
	RESERVE_ENDING = 16,                 /* to open cgroup files while killing and removing */
	RESERVE_LEAF = RESERVE_ENDING + 8,   /* what one more leaf opens */
	RESERVE_SANDBOX = RESERVE_LEAF + 40, /* what one more sandbox opens, while it is made */
};

/* 0 if at least KEEP descriptors below RLIMIT_NOFILE are free, else -1 with EMFILE. */
int reserve_check(int keep, struct error *err);

#endif
