#include "tenant.h"

#include "minute.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SHOWN_MOST = 512 };

struct starts {
	LIST_ENTRY(starts) link;
	char tenant[SESSION_TENANT_BYTES];
	struct minute minute;
};

struct tenants {
	uint64_t most[TENANT_LIMITS];
	LIST_HEAD(, starts) starts;
};

/* clang-format off */
static const struct {
	const char *name, *key, *text; /* TEXT has the number in it */
} rows[TENANT_LIMITS] = {
	[TENANT_SESSIONS]  = {"tenant_sessions",  "sessions",  "a tenant may have at most %llu sessions at once"},
	[TENANT_MEMORY]    = {"tenant_memory",    "memory",    "the sessions of a tenant may have limits of `memory` of at most %llu bytes together"},
	[TENANT_PROCESSES] = {"tenant_processes", "processes", "a tenant may run at most %llu processes started by clients at once"},
	[TENANT_STARTS]    = {"tenant_starts",    "starts",    "a tenant may make at most %llu sessions and processes a minute"},
};
/* clang-format on */

struct tenants *tenants_create(const uint64_t most[TENANT_LIMITS])
{
	struct tenants *tenants = calloc(1, sizeof *tenants);
	if (!tenants)
		abort();
	memcpy(tenants->most, most, sizeof tenants->most);
	return tenants;
}

static void remove_starts(struct starts *starts)
{
	LIST_REMOVE(starts, link);
	free(starts);
}

void tenants_destroy(struct tenants *tenants)
{
	if (!tenants)
		return;
	while (!LIST_EMPTY(&tenants->starts))
		remove_starts(LIST_FIRST(&tenants->starts));
	free(tenants);
}

/* --- the last minute ------------------------------------------------------------------------------------------ */

static uint64_t now_s(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec;
}

static struct starts *find_starts(const struct tenants *tenants, const char *tenant)
{
	struct starts *starts;
	LIST_FOREACH(starts, &tenants->starts, link)
		if (strcmp(starts->tenant, tenant) == 0)
			return starts;
	return NULL;
}

/* Who starts nothing for a minute is forgotten, when somebody new comes. */
static struct starts *add_starts(struct tenants *tenants, const char *tenant, uint64_t second)
{
	struct starts *starts, *next;
	for (starts = LIST_FIRST(&tenants->starts); starts; starts = next) {
		next = LIST_NEXT(starts, link);
		if (second - starts->minute.newest_s >= MINUTE_S)
			remove_starts(starts);
	}
	starts = calloc(1, sizeof *starts);
	if (!starts)
		abort();
	memcpy(starts->tenant, tenant, strnlen(tenant, sizeof starts->tenant - 1));
	starts->minute.newest_s = second;
	LIST_INSERT_HEAD(&tenants->starts, starts, link);
	return starts;
}

static uint64_t count_starts(const struct tenants *tenants, const char *tenant)
{
	const struct starts *starts = find_starts(tenants, tenant);
	return starts ? minute_sum(&starts->minute, now_s()) : 0;
}

static void count_start(struct tenants *tenants, const char *tenant)
{
	if (tenants->most[TENANT_STARTS] == 0)
		return;
	uint64_t second = now_s();
	struct starts *starts = find_starts(tenants, tenant);
	minute_add(&(starts ? starts : add_starts(tenants, tenant, second))->minute, second);
}

/* --- what is used --------------------------------------------------------------------------------------------- */

static void count(const struct server *server, const char *tenant, uint64_t used[TENANT_LIMITS])
{
	const struct session *session;
	memset(used, 0, TENANT_LIMITS * sizeof *used);
	LIST_FOREACH(session, &server->sessions.list, link) {
		if (session->state == SESSION_ENDED || strcmp(session->tenant, tenant) != 0)
			continue;
		used[TENANT_SESSIONS]++;
		used[TENANT_MEMORY] += session->limits.memory;
		used[TENANT_PROCESSES] += session->running_count;
	}
	used[TENANT_STARTS] = server->tenants ? count_starts(server->tenants, tenant) : 0;
}

/* Whether there is something to count for: all sessions are gone through for it, at each start of a process. */
static bool is_bounded(const struct tenants *tenants, const uint64_t more[TENANT_LIMITS])
{
	for (size_t i = 0; tenants && i < TENANT_LIMITS; i++)
		if (tenants->most[i] > 0 && more[i] > 0)
			return true;
	return false;
}

/* MORE is what is to come on top of what is used. */
static bool has_room(struct call *call, const uint64_t more[TENANT_LIMITS])
{
	const struct server *server = call->caller->server;
	uint64_t used[TENANT_LIMITS];
	if (!is_bounded(server->tenants, more))
		return true;
	count(server, call->caller->principal.tenant, used);
	for (size_t i = 0; i < TENANT_LIMITS; i++) {
		uint64_t most = server->tenants->most[i];
		if (most == 0 || more[i] == 0 || used[i] + more[i] <= most)
			continue;
		call_fail(call, CODE_LIMIT, "limit", rows[i].name, rows[i].text, (unsigned long long)most);
		return false;
	}
	count_start(server->tenants, call->caller->principal.tenant);
	return true;
}

bool tenant_may_create(struct call *call, uint64_t memory)
{
	return has_room(
		call, (const uint64_t[TENANT_LIMITS]){[TENANT_SESSIONS] = 1, [TENANT_MEMORY] = memory, [TENANT_STARTS] = 1});
}

bool tenant_may_start(struct call *call)
{
	return has_room(call, (const uint64_t[TENANT_LIMITS]){[TENANT_PROCESSES] = 1, [TENANT_STARTS] = 1});
}

/* --- shown ---------------------------------------------------------------------------------------------------- */

static void write_rows(struct writer *writer, const struct server *server, const char *tenant)
{
	uint64_t used[TENANT_LIMITS];
	count(server, tenant, used);
	for (size_t i = 0; i < TENANT_LIMITS; i++) {
		writer_str(writer, rows[i].key);
		writer_map(writer, 2);
		writer_key_uint(writer, "used", used[i]);
		writer_key_uint(writer, "limit", server->tenants ? server->tenants->most[i] : 0);
	}
}

void tenant_write(struct writer *writer, const struct server *server, const char *tenant)
{
	writer_map(writer, TENANT_LIMITS);
	write_rows(writer, server, tenant);
}

/* Whether no session before this one is its tenant's. */
static bool is_first(const struct server *server, const struct session *session)
{
	const struct session *before;
	LIST_FOREACH(before, &server->sessions.list, link) {
		if (before == session)
			break;
		if (strcmp(before->tenant, session->tenant) == 0)
			return false;
	}
	return true;
}

void tenants_write(struct writer *writer, const struct server *server)
{
	const struct session *session, *shown[SHOWN_MOST];
	uint32_t length = 0;
	LIST_FOREACH(session, &server->sessions.list, link)
		if (length < SHOWN_MOST && is_first(server, session))
			shown[length++] = session;
	writer_array(writer, length);
	for (uint32_t i = 0; i < length; i++) {
		writer_map(writer, 1 + TENANT_LIMITS);
		writer_key_str(writer, "tenant", shown[i]->tenant);
		write_rows(writer, server, shown[i]->tenant);
	}
}
