/*
 * cell.h: one sandbox with the real init in it, and commands in it, for a test's body (story.h).
 */
#ifndef SANDBAR_TEST_CELL_H
#define SANDBAR_TEST_CELL_H

#include "sandbox/sandbox.h"

struct cell {
	struct sandbox_host *host;
	struct sandbox_box *box;
	int socket;
	uint32_t last; /* number of the newest process */
	char staging[64];
};

struct ending {
	int status;         /* waitpid's */
	char output[16384]; /* stdout and stderr, ended by NUL */
};

/* The limits of the tests' sandboxes: small, so that they are met. */
struct sandbox_limits cell_limits(void);

void cell_host(struct cell *cell);                                      /* prepare this process */
void cell_open(struct cell *cell, const struct sandbox_limits *limits); /* a host (if there is none), and a sandbox */
void cell_close(struct cell *cell);                                     /* both, and nothing may be left */

/* Start `sh -c SCRIPT` as a process of its own leaf. Its number; its output comes from *STREAM. */
uint32_t cell_start(struct cell *cell, const char *script, int *stream);
/* Start it and wait. */
struct ending cell_run(struct cell *cell, const char *script);

/* Read up to SIZE bytes of a stream, waiting at most 5 s. 0 at its end. */
ssize_t cell_read(int stream, char *text, size_t size);

/* Wait until the leaf of PROCESS is empty, or fail after 5 s. */
void cell_wait_empty(struct cell *cell, uint32_t process);

/* How many mounts this process sees, and how many cgroups of the tests there are. */
unsigned cell_count_mounts(void);
unsigned cell_count_cgroups(void);

#endif
