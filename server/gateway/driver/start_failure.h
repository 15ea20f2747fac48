/*
 * start_failure.h: why a process could not be started, in the user's words, from what init tried and errno.
 */
#ifndef SANDBAR_START_FAILURE_H
#define SANDBAR_START_FAILURE_H

#include "sandbox/error.h"

#include <stdint.h>

struct start_failure {
	int exit_code;    /* 127: not found; 126: cannot be executed; 0: the sandbox had no room, nothing was run */
	const char *code; /* one of table.def's; "limit" with 0 */
	char message[ERROR_MESSAGE_BYTES];
};

/* PHASE is init's; PROGRAM is argv[0], DIRECTORY the working directory. */
void start_failure_of_init(struct start_failure *failure, uint32_t phase, int errnum, const char *program,
                           const char *directory);
/* The leaf or the payload could not be made: CODE and MESSAGE are the keeper's, or the driver's own. */
void start_failure_of_driver(struct start_failure *failure, const char *code, const char *message);

#endif
