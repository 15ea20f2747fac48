/*
 * limits_list.h: docs/limits.md, made of sandbox/limits.def. `limits-list` prints it.
 */
#ifndef SANDBAR_TEST_LIMITS_LIST_H
#define SANDBAR_TEST_LIMITS_LIST_H

#include <stdio.h>

void limits_list_write(FILE *out);

#endif
