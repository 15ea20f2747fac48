/*
 * params.h: the numbers of a control sequence, with those behind colons: CSI 38:2::255:0:0;1 m.
 *
 * As in xterm.js: a number that is missing is 0, one behind a colon -1; at most 32 of each are kept; large ones are
 * brought to INT32_MAX.
 */
#ifndef SANDBAR_TERMINAL_PARAMS_H
#define SANDBAR_TERMINAL_PARAMS_H

#include "bytes.h"

#include <stdbool.h>
#include <stdint.h>

enum { PARAMS_MOST = 32 };

struct params {
	int32_t value[PARAMS_MOST];
	int32_t sub[PARAMS_MOST];
	uint8_t sub_begin[PARAMS_MOST]; /* into sub, of each value */
	uint8_t sub_end[PARAMS_MOST];
	uint32_t count; /* at least 1 */
	uint32_t sub_count;
	bool is_full, is_sub_full; /* further digits belong to a number that was not kept */
	bool in_sub;               /* further digits belong to the last of sub */
};

void params_reset(struct params *params);                  /* to a single 0 */
void params_add(struct params *params, uint8_t character); /* a digit, ; or : */

/* The number at INDEX, or 0. */
int32_t params_at(const struct params *params, uint32_t index);
/* The number at INDEX; 1 if it is 0 or missing; at most MOST. */
int params_count(const struct params *params, uint32_t index, int most);

uint32_t params_sub_count(const struct params *params, uint32_t index);
int32_t params_sub(const struct params *params, uint32_t index, uint32_t sub);

/* Write them so that reading them again gives the same state. */
void params_write(const struct params *params, struct bytes *bytes);

#endif
