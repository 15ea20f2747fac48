#include "owner.h"

#include "session.h"

static void on_away(struct ev_loop *loop, ev_timer *timer, int events)
{
	(void)loop, (void)events;
	struct owner *owner = timer->data;
	session_end(owner->session, "disconnect", NULL);
}

void owner_init(struct owner *owner, struct session *session)
{
	*owner = (struct owner){.session = session};
	ev_timer_init(&owner->away, on_away, 0., 0.);
	owner->away.data = owner;
}

void owner_stop(struct owner *owner)
{
	ev_timer_stop(owner->session->home->loop, &owner->away);
}

void owner_left(struct owner *owner)
{
	owner_stop(owner);
	if (owner->away_ms == 0 || owner->session->state >= SESSION_ENDING)
		return;
	ev_timer_set(&owner->away, (double)owner->away_ms / 1e3, 0.);
	ev_timer_start(owner->session->home->loop, &owner->away);
}

void owner_back(struct owner *owner)
{
	owner_stop(owner);
}
