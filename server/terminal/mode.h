/*
 * mode.h: the modes that are a flag, by their numbers.
 */
#ifndef SANDBAR_TERMINAL_MODE_H
#define SANDBAR_TERMINAL_MODE_H

#include "state.h"

struct mode_row {
	int32_t number;
	bool is_private; /* CSI ? n h, not CSI n h */
	uint32_t mode;
};

/* A row without a mode ends them. */
extern const struct mode_row mode_rows[];

#endif
