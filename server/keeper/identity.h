/*
 * identity.h: as whom the gateway runs.
 */
#ifndef SANDBAR_IDENTITY_H
#define SANDBAR_IDENTITY_H

#include "sandbox/error.h"

#include <stdbool.h>
#include <sys/types.h>

struct identity {
	uid_t uid;
	gid_t gid;
	bool changes; /* false without root: then the gateway keeps the keeper's */
};

/* NAME: a user, or NULL: `sandbar` where it exists, else the reserved id. Without root only NULL is allowed. */
int identity_find(struct identity *identity, const char *name, struct error *err);

/* Become it, for ever and without any capability: for the child that will be the gateway, before it is executed. */
int identity_assume(const struct identity *identity, struct error *err);

#endif
