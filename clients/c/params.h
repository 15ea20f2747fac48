/*
 * params.h: parts of parameters that several methods share.
 */
#ifndef SANDBAR_CLIENT_PARAMS_H
#define SANDBAR_CLIENT_PARAMS_H

#include "protocol/writer.h"

/* The entry KEY, a map of PAIRS, "NAME=value" ended by NULL; a string without `=` is a name with an empty value, and of
 * a name that stands there twice the last one counts. */
void params_pairs(struct writer *params, const char *key, const char *const *pairs);

#endif
