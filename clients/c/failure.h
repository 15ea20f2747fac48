/*
 * failure.h: filling a struct sandbar_error.
 */
#ifndef SANDBAR_CLIENT_FAILURE_H
#define SANDBAR_CLIENT_FAILURE_H

#include "sandbar.h"

/* Fill ERROR (may be NULL); always returns -1. */
int failure_set(struct sandbar_error *error, const char *code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
