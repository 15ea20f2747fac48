#include "holds.h"

#include "session.h"

static const ev_tstamp back_s = 3.0; /* that clients have to connect again */

uint64_t session_lets_read(const struct session *session, const struct process *process)
{
	uint64_t least = UINT64_MAX;
	const struct channel *channel;
	if (process->kill_sent || (process->is_overdue && process->state == PROCESS_REAPED))
		return least;
	if (session->awaited > 0 || (session->home->is_leaving && participants_lossless(session) > 0))
		return 0;
	LIST_FOREACH(channel, &session->holders, holder) {
		uint64_t bytes = channel_lets_read(channel, process);
		if (bytes < least)
			least = bytes;
	}
	return least;
}

void session_reconsider_holds(struct session *session)
{
	struct process *process;
	TAILQ_FOREACH(process, &session->processes, link)
		if (process->held && session_lets_read(session, process) > 0)
			process_hold(process, false);
}

static void on_back(struct ev_loop *loop, ev_timer *timer, int events)
{
	(void)loop, (void)events;
	struct session *session = timer->data;
	session->awaited = 0;
	session_reconsider_holds(session);
}

void holds_join(struct channel *channel)
{
	struct session *session = channel->session;
	LIST_INSERT_HEAD(&session->holders, channel, holder);
	if (session->awaited == 0 || --session->awaited > 0)
		return;
	ev_timer_stop(session->home->loop, &session->back);
	session_reconsider_holds(session);
}

void holds_leave(struct channel *channel)
{
	LIST_REMOVE(channel, holder);
}

void holds_init(struct session *session)
{
	LIST_INIT(&session->holders);
	ev_timer_init(&session->back, on_back, back_s, 0.);
	session->back.data = session;
}

void holds_await(struct session *session)
{
	session->awaited = participants_lossless(session);
	if (session->awaited > 0)
		ev_timer_start(session->home->loop, &session->back);
}
