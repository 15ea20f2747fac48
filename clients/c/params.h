/*
 * params.h: parts of parameters that several methods share.
 */
#ifndef SANDBAR_CLIENT_PARAMS_H
#define SANDBAR_CLIENT_PARAMS_H

#include "protocol/writer.h"

/* The entry `env` of ENV, "NAME=value" ended by NULL; a string without `=` is a name with an empty value. */
void params_environment(struct writer *params, const char *const *env);

#endif
