/* The registry of all sessions. */
#include "session.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void sessions_init(struct sessions *sessions, struct ev_loop *loop, const struct driver *driver, int directory)
{
	*sessions = (struct sessions){.loop = loop, .driver = driver, .directory = directory};
	LIST_INIT(&sessions->list);
}

void sessions_finish(struct sessions *sessions)
{
	assert(LIST_EMPTY(&sessions->list));
	free(sessions->scratch);
}

struct session *sessions_find(struct sessions *sessions, const char *id, size_t length, const char *tenant)
{
	if (length != SESSION_ID_LENGTH)
		return NULL;
	struct session *session;
	LIST_FOREACH(session, &sessions->list, link)
		if (memcmp(session->id, id, SESSION_ID_LENGTH) == 0 && strcmp(session->tenant, tenant) == 0)
			return session;
	return NULL;
}

void sessions_end_all(struct sessions *sessions, const char *reason)
{
	struct session *session, *next;
	for (session = LIST_FIRST(&sessions->list); session; session = next) {
		next = LIST_NEXT(session, link);
		session_end(session, reason, NULL);
	}
}

static void for_each_process_of(struct sessions *sessions, const uint8_t client[CLIENT_ID_BYTES],
                                void (*tell)(struct process *process))
{
	struct session *session;
	struct process *process;
	LIST_FOREACH(session, &sessions->list, link)
		TAILQ_FOREACH(process, &session->processes, link)
			if (process->kill_on_disconnect && memcmp(process->client, client, CLIENT_ID_BYTES) == 0)
				tell(process);
}

void sessions_client_left(struct sessions *sessions, const uint8_t client[CLIENT_ID_BYTES])
{
	for_each_process_of(sessions, client, process_client_left);
}

void sessions_client_back(struct sessions *sessions, const uint8_t client[CLIENT_ID_BYTES])
{
	for_each_process_of(sessions, client, process_client_back);
}
