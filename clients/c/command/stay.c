#include "stay.h"

#include "signals.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

static const int WATCHED[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, 0};

struct stay {
	struct context *context;
	struct sandbar_channel *channel; /* NULL once it is closed */
	struct sandbar_error closed;
	bool must_leave;
};

static void on_signal(int number, void *user)
{
	struct stay *stay = user;

	(void)number;
	stay->must_leave = true;
	sandbar_interrupt(stay->context->sandbar);
}

static void on_closed(struct sandbar_channel *channel, const struct sandbar_error *why, void *user)
{
	struct stay *stay = user;

	(void)channel;
	stay->channel = NULL;
	stay->closed = *why;
}

/* The channel tells when the session has ended; it carries no output. */
static int attach(struct stay *stay, const char *session, struct sandbar_error *error)
{
	static const struct sandbar_events EVENTS = {.closed = on_closed};
	static const uint32_t NONE[1];
	const struct sandbar_attachment attachment = {
		.session = session, .after = SANDBAR_FROM_NOW, .processes = NONE, .events = &EVENTS, .user = stay};

	stay->channel = sandbar_attach(stay->context->sandbar, &attachment, error);
	return stay->channel ? 0 : -1;
}

static int end(struct stay *stay, const char *session)
{
	struct sandbar_error error;

	if (stay->channel)
		sandbar_detach(stay->channel);
	int status = sandbar_session_end(stay->context->sandbar, session, &error);
	if (status < 0 && strcmp(error.code, "interrupted") == 0) /* by a second signal */
		status = sandbar_session_end(stay->context->sandbar, session, &error);
	return status == 0 || strcmp(error.code, "session_ended") == 0 ? EXIT_OK
	                                                               : context_fail(stay->context, NULL, &error);
}

void stay_hold_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	for (const int *number = WATCHED; *number; number++)
		sigaddset(&set, *number);
	sigprocmask(SIG_BLOCK, &set, NULL);
}

int stay(struct context *context, const char *session)
{
	struct stay stay = {.context = context, .must_leave = ferror(stdout) != 0};
	struct sandbar_error error;

	if (signals_watch(context->sandbar, WATCHED, on_signal, &stay, &error) < 0 || attach(&stay, session, &error) < 0)
		return context_fail(context, NULL, &error);
	while (!stay.must_leave && stay.channel)
		if (context_turn(context, &error) < 0 && !stay.must_leave && stay.channel)
			return context_fail(context, NULL, &error);
	if (stay.must_leave)
		return end(&stay, session);
	return strcmp(stay.closed.code, "session_ended") == 0 ? EXIT_OK : context_fail(context, NULL, &stay.closed);
}
