/*
 * look.h: a cell as it is seen, for comparing: two cells that look alike are equal, however they came about.
 */
#ifndef SANDBAR_TESTS_TERMINAL_LOOK_H
#define SANDBAR_TESTS_TERMINAL_LOOK_H

#include "server/terminal/state.h"

struct looked {
	char text[CLUSTER_BYTES + 1]; /* " " for a blank one */
	uint32_t width;
	struct look look;
};

struct looked look_at(const struct terminal *terminal, const struct row *row, int at);

#endif
