/*
 * tenant.h: what one tenant may use of the server, all its sessions together, and what it uses.
 *
 * What stands there at once is counted over the sessions, so it is right after a restart of the gateway too; the starts of
 * the last minute are not, and begin anew with each gateway.
 */
#ifndef SANDBAR_TENANT_H
#define SANDBAR_TENANT_H

#include "call.h"

enum tenant_limit {
	TENANT_SESSIONS,  /* at once */
	TENANT_MEMORY,    /* bytes: the sum of its sessions' limits */
	TENANT_PROCESSES, /* that clients started, at once */
	TENANT_STARTS,    /* sessions and processes that were made in the last minute */
	TENANT_LIMITS
};

struct tenants;

struct tenants *tenants_create(const uint64_t most[TENANT_LIMITS]); /* 0 = no limit */
void tenants_destroy(struct tenants *tenants);

/* Whether the caller's tenant may make a session with MEMORY bytes, or start a process; one that may is counted as a start.
 * False: the call was failed with `limit`. */
bool tenant_may_create(struct call *call, uint64_t memory);
bool tenant_may_start(struct call *call);

/* The map {sessions, memory, processes, starts} of TENANT, each {used, limit}. */
void tenant_write(struct writer *writer, const struct server *server, const char *tenant);
/* {tenant, …the same} of each that has a session, as far as one message has room for them. */
void tenants_write(struct writer *writer, const struct server *server);

#endif
