/* `logs`: what the processes of a session wrote. */
#include "commands.h"
#include "context.h"
#include "outlet.h"
#include "terminal.h"
#include "protocol/wire.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

enum { WINDOW = 1024 * 1024 };

struct logs {
	struct context context;
	const struct options *options;
	char session[SANDBAR_SESSION_BYTES];
	uint32_t process; /* 0: all */
	struct sandbar_channel *channel;
	struct outlet outlet;
	const void *frame; /* of the output that is told next */
	size_t frame_length;
	bool is_known; /* something was told of the process, or some events are not kept */
	bool is_done;  /* all that was asked for has come */
	int write_errno;
	struct sandbar_error closed;
};

/* Output waits for on_output(), which knows its process and stream. */
static void on_frame(struct sandbar_channel *channel, unsigned kind, const void *frame, size_t length, void *user)
{
	struct logs *logs = user;

	(void)channel;
	logs->frame = frame;
	logs->frame_length = length;
	if (logs->options->json && kind != FRAME_OUTPUT && !logs->is_done)
		outlet_event(&logs->outlet, kind, frame, length);
}

static bool is_asked_for(const struct logs *logs, const struct sandbar_output *output)
{
	if (logs->process && logs->process != output->process)
		return false;
	return !logs->options->stream || strcmp(logs->options->stream, stream_name(output->stream)) == 0;
}

static void on_output(struct sandbar_channel *channel, const struct sandbar_output *output, void *user)
{
	struct logs *logs = user;

	(void)channel;
	logs->is_known |= logs->process == output->process;
	if (logs->is_done || !is_asked_for(logs, output))
		return;
	if (logs->options->json)
		outlet_event(&logs->outlet, FRAME_OUTPUT, logs->frame, logs->frame_length);
	else
		outlet_output(&logs->outlet, output);
}

static void on_started(struct sandbar_channel *channel, const struct sandbar_started *started, void *user)
{
	struct logs *logs = user;

	(void)channel;
	logs->is_known |= logs->process == started->process;
}

static bool is_absent(const struct logs *logs)
{
	return logs->process && !logs->is_known;
}

static void on_live(struct sandbar_channel *channel, uint64_t seq, void *user)
{
	struct logs *logs = user;

	(void)channel, (void)seq;
	logs->is_done |= !logs->options->follow || is_absent(logs);
}

static void on_gap(struct sandbar_channel *channel, uint64_t from, uint64_t to, void *user)
{
	(void)channel;
	((struct logs *)user)->is_known = true;
	context_say("events %llu to %llu are not kept any more", (unsigned long long)from, (unsigned long long)to);
}

/* With --process, following ends with the process. */
static void on_exited(struct sandbar_channel *channel, uint32_t process, const struct sandbar_ending *ending,
                      void *user)
{
	struct logs *logs = user;
	bool is_open = false;

	(void)channel;
	logs->is_known |= logs->process == process;
	for (unsigned stream = 0; stream < SANDBAR_STREAMS; stream++)
		is_open |= ending->open[stream];
	logs->is_done |= logs->process == process && !is_open;
}

static void on_ended(struct sandbar_channel *channel, const char *reason, void *user)
{
	(void)channel, (void)reason;
	((struct logs *)user)->is_done = true;
}

static void on_closed(struct sandbar_channel *channel, const struct sandbar_error *why, void *user)
{
	struct logs *logs = user;

	(void)channel;
	logs->channel = logs->outlet.channel = NULL;
	logs->closed = *why;
}

static const struct sandbar_events EVENTS = {
	.frame = on_frame,
	.output = on_output,
	.started = on_started,
	.exited = on_exited,
	.live = on_live,
	.ended = on_ended,
	.gap = on_gap,
	.closed = on_closed,
};

static void on_write_failed(int errnum, void *user)
{
	((struct logs *)user)->write_errno = errnum;
}

static bool is_over(const struct logs *logs)
{
	return logs->write_errno || ((logs->is_done || logs->closed.code[0]) && outlet_is_drained(&logs->outlet));
}

static int follow(struct logs *logs)
{
	struct sandbar_error error;
	int status = 0;

	while (status == 0 && !is_over(logs))
		status = context_turn(&logs->context, &error);
	terminal_leave();
	if (logs->write_errno == EPIPE)
		return 128 + SIGPIPE;
	if (logs->write_errno) {
		context_say("write: %s", strerror(logs->write_errno));
		return EXIT_FAILED;
	}
	if (logs->is_done && is_absent(logs)) {
		context_say("%s: there is no process %u", logs->session, logs->process);
		return EXIT_NOT_FOUND;
	}
	if (logs->is_done)
		return EXIT_OK;
	return context_fail(&logs->context, NULL, logs->closed.code[0] ? &logs->closed : &error);
}

static int begin(struct logs *logs)
{
	struct sandbar_error error;
	struct sandbar_attachment request = {
		.session = logs->session,
		.after = 0,
		.role = "viewer",
		.processes = logs->process ? &logs->process : NULL,
		.process_count = logs->process ? 1 : 0,
		.window = WINDOW,
		.events = &EVENTS,
		.user = logs,
	};

	outlet_init(&logs->outlet, logs->context.sandbar, on_write_failed, logs);
	logs->channel = sandbar_attach(logs->context.sandbar, &request, &error);
	logs->outlet.channel = logs->channel;
	return logs->channel ? follow(logs) : context_fail(&logs->context, NULL, &error);
}

int command_logs(struct options *options)
{
	if (options->cast)
		return command_logs_cast(options);
	if (options->from) {
		context_say("--from goes with --cast");
		return EXIT_USAGE;
	}
	struct logs logs = {.options = options, .process = (uint32_t)options->process};
	int status = context_connect(&logs.context, options);

	if (status < 0)
		status = context_session(&logs.context, options->arguments[0], logs.session);
	if (status < 0)
		status = begin(&logs);
	if (logs.outlet.out.sink.sandbar)
		outlet_finish(&logs.outlet);
	context_finish(&logs.context);
	return status;
}
