#include "waker.h"

#include "session.h"

enum {
	AUDIENCE_FEW = 8,         /* that is told at once */
	UNTOLD_BYTES = 64 * 1024, /* that wait for more; more than the half of a large message */
};

static const ev_tstamp gather_s = 0.004; /* that output waits for more */
static const ev_tstamp quiet_s = 0.05;   /* after which it does not */

static void on_later(struct ev_loop *loop, ev_timer *timer, int events)
{
	(void)loop, (void)events;
	waker_tell(timer->data);
}

void waker_init(struct waker *waker, struct session *session)
{
	*waker = (struct waker){.untold = 0};
	ev_timer_init(&waker->later, on_later, 0., 0.);
	waker->later.data = session;
}

void waker_stop(struct session *session)
{
	ev_timer_stop(session->home->loop, &session->waker.later);
}

void waker_tell(struct session *session)
{
	struct waker *waker = &session->waker;
	struct channel *channel;
	waker_stop(session);
	waker->told = ev_now(session->home->loop);
	waker->untold = waker->audience = 0;
	LIST_FOREACH(channel, &session->channels, link) {
		waker->audience++;
		channel->wake(channel->owner);
	}
}

static void wake_holders(struct session *session)
{
	struct channel *channel;
	LIST_FOREACH(channel, &session->holders, holder)
		channel->wake(channel->owner);
}

void waker_output(struct session *session, size_t bytes)
{
	struct waker *waker = &session->waker;
	ev_tstamp now = ev_now(session->home->loop), silent = now - waker->told;
	if (waker->untold == 0)
		waker->since = now;
	waker->untold += bytes;
	ev_tstamp left = waker->since + gather_s - now;
	bool is_quiet = silent < 0. || silent > quiet_s;
	if (waker->audience <= AUDIENCE_FEW || is_quiet || left <= 0. || waker->untold >= UNTOLD_BYTES) {
		waker_tell(session);
		return;
	}
	wake_holders(session);
	if (ev_is_active(&waker->later))
		return;
	ev_timer_set(&waker->later, left, 0.);
	ev_timer_start(session->home->loop, &waker->later);
}
