/*
 * confine.h: the gateway gives up, after its start, what it does not need: it reads what strangers send, and who takes it
 * over through that should find nothing to go on with. Its user and its capabilities the keeper has taken already.
 *
 *   seccomp    the calls of confine_table.def; no socket is made, no program started, no memory becomes code
 *   Landlock   files below the directories of sessions and of tokens; no TCP port is bound or connected to; no process outside
 *              of itself is signalled (as far as the kernel goes, landlock.h)
 */
#ifndef SANDBAR_GATEWAY_CONFINE_H
#define SANDBAR_GATEWAY_CONFINE_H

#include "sandbox/error.h"

/* For good. -1: it cannot be, and the gateway must not serve. Where the kernel has no Landlock, that part is left out. */
int gateway_confine(struct error *err);

#endif
