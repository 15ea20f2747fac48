/*
 * equal.h: whether two terminals show the same, and will.
 */
#ifndef SANDBAR_TESTS_UNIT_TERMINAL_EQUAL_H
#define SANDBAR_TESTS_UNIT_TERMINAL_EQUAL_H

#include "server/terminal/state.h"

/* NULL if they do, else what differs: a name, for a message. */
const char *equal_difference(const struct terminal *one, const struct terminal *other);

/* A new terminal that was fed what ONE's screen and pending bytes are. */
struct terminal *equal_late(const struct terminal *one, uint32_t scrollback);

#endif
