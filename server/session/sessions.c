/* The registry of all sessions. */
#include "session.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void close_all(struct sessions *sessions)
{
	while (sessions->closing_count > 0)
		close(sessions->closing[--sessions->closing_count]);
}

static void on_close(struct ev_loop *loop, ev_timer *timer, int events)
{
	(void)loop, (void)events;
	close_all(timer->data);
}

void sessions_close_later(struct sessions *sessions, int fd)
{
	if (sessions->closing_count == sessions->closing_room) {
		sessions->closing_room = sessions->closing_room ? sessions->closing_room * 2 : 16;
		sessions->closing = realloc(sessions->closing, sessions->closing_room * sizeof *sessions->closing);
		if (!sessions->closing)
			abort();
	}
	sessions->closing[sessions->closing_count++] = fd;
	if (ev_is_active(&sessions->close))
		return;
	ev_timer_set(&sessions->close, 0., 0.);
	ev_timer_start(sessions->loop, &sessions->close);
}

void sessions_init(struct sessions *sessions, struct ev_loop *loop, const struct driver *driver, int directory)
{
	*sessions = (struct sessions){.loop = loop, .driver = driver, .directory = directory};
	LIST_INIT(&sessions->list);
	ev_timer_init(&sessions->close, on_close, 0., 0.);
	sessions->close.data = sessions;
	recorder_init(&sessions->recorder, loop, directory);
	kept_init(sessions);
	lookouts_init(sessions);
}

void sessions_finish(struct sessions *sessions)
{
	struct session *session, *next;
	for (session = LIST_FIRST(&sessions->list); session; session = next) {
		next = LIST_NEXT(session, link);
		if (session->state != SESSION_ENDED)
			continue;
		LIST_REMOVE(session, link); /* a later gateway finishes its record */
		session_release(session);
	}
	assert(LIST_EMPTY(&sessions->list));
	recorder_finish(&sessions->recorder);
	kept_finish(sessions);
	lookouts_finish(sessions);
	ev_timer_stop(sessions->loop, &sessions->close);
	close_all(sessions);
	free(sessions->closing);
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

static void for_each_owned_by(struct sessions *sessions, const uint8_t client[CLIENT_ID_BYTES],
                              void (*tell)(struct owner *owner))
{
	struct session *session;
	LIST_FOREACH(session, &sessions->list, link)
		if (session->client.away_ms > 0 && memcmp(session->client.client, client, CLIENT_ID_BYTES) == 0)
			tell(&session->client);
}

void sessions_client_left(struct sessions *sessions, const uint8_t client[CLIENT_ID_BYTES])
{
	for_each_process_of(sessions, client, process_client_left);
	for_each_owned_by(sessions, client, owner_left);
}

void sessions_client_back(struct sessions *sessions, const uint8_t client[CLIENT_ID_BYTES])
{
	for_each_process_of(sessions, client, process_client_back);
	for_each_owned_by(sessions, client, owner_back);
}
