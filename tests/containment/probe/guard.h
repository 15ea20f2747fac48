/*
 * guard.h: a probe that succeeds outside of a sandbox wrecks the machine. So the program runs nothing unless it stands in a
 * user namespace, and unless whoever started it has put the same word into its environment and into a file.
 */
#ifndef SANDBAR_PROBE_GUARD_H
#define SANDBAR_PROBE_GUARD_H

#include <stdbool.h>

enum { EXIT_OUTSIDE = 97 };

#define GUARD_VARIABLE "SANDBAR_PROBE_WORD"
#define GUARD_FILE "/tmp/sandbar-probe.word"

/* NULL, or why nothing may run here. */
const char *guard_refusal(void);

/* The second look, before what would harm: no capability, no new privileges, a filter. NULL, or what is missing. */
const char *guard_refusal_of_grave(void);

#endif
