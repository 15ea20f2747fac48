/*
 * abuse.h: taking all there is, as a table: each row presses on one limit until it is told no, and goes on a while.
 * What must not happen happens elsewhere: whoever runs this watches the neighbour.
 */
#ifndef SANDBAR_PROBE_ABUSE_H
#define SANDBAR_PROBE_ABUSE_H

#include "probe.h"

#include <errno.h>

/* Expected of a row that has nothing to run out of: it is told after a while of pressing. */
enum { ABUSE_ENDLESS = EALREADY };

struct abuse {
	const char *name;
	const char *attempt;
	const char *control;          /* what must stop it */
	const char *layer;            /* without which it must not be tried, since it would take the host's; or "-" */
	int expected[PROBE_EXPECTED]; /* what the program sees; ended by 0 */
	bool (*press)(void);          /* once more; false with errno when there is no more */
};

extern const struct abuse ABUSES[];
extern const size_t ABUSE_COUNT;

/* The table: NAME TAB CONTROL TAB LAYER TAB EXPECTED TAB ATTEMPT a line. */
int abuse_list(const char *argument);
/* Do what row NAME says; "NAME TAB GOT TAB COUNT" is printed at the first no. Returns the exit code. */
int abuse_run(const char *name);

#endif
