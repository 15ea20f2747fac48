/*
 * environment.h: the environment of a process: a fixed list, with who runs it, the session's entries over it, the
 * process's over those.
 */
#ifndef SANDBAR_ENVIRONMENT_H
#define SANDBAR_ENVIRONMENT_H

#include "sandbox/inner_user.h"

#include <stdbool.h>

/* PATH, HOME, USER, LOGNAME, LANG and TZ, and TERM with a TERMINAL; then BASE and OVER ("NAME=value", ended by NULL,
 * either may be NULL), where a later entry of a name replaces an earlier one. The strings are borrowed. */
const char **environment_create(enum inner_user user, char *const *base, const char *const *over, bool terminal);
void environment_destroy(const char **environment);

#endif
