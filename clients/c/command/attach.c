/* `attach`: this terminal into one of a session. */
#include "commands.h"
#include "context.h"
#include "outlet.h"
#include "pump.h"
#include "query.h"
#include "signals.h"
#include "terminal.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

enum { WINDOW = 64 * 1024, TYPED_INTERRUPT = 0x03 };

static const int WATCHED[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH, SIGTSTP, SIGCONT, SIGPIPE, 0};

struct attachment {
	struct context context;
	const struct options *options;
	char session[SANDBAR_SESSION_BYTES];
	uint32_t process;
	bool is_terminal, is_running; /* the process, when we came */
	bool is_raw;                  /* our own terminal */
	struct sandbar_channel *channel;
	struct outlet outlet;
	struct pump pump;
	bool is_over, is_detached, has_ending;
	int signal, write_errno;
	struct sandbar_ending ending;
	struct sandbar_error closed;
};

/* ---- Which process ---- */

static bool is_terminal(const struct reader *process)
{
	return !query_is_nil(process, "terminal");
}

static bool is_running(const struct reader *process)
{
	return view_equals(query_text(process, "state"), "running");
}

/* Better: the one that was asked for; else a running terminal, then a running process, the newest of each. */
static unsigned rank_of(const struct attachment *attachment, const struct reader *process)
{
	if (attachment->process)
		return query_number(process, "process") == attachment->process ? 3 : 0;
	if (!is_running(process))
		return 0;
	return is_terminal(process) ? 2 : 1;
}

static int no_process(const struct attachment *attachment)
{
	if (attachment->process)
		context_say("%s: there is no process %u", attachment->session, attachment->process);
	else
		context_say("%s: nothing is running; start something with: sandbar exec -t %s -- bash", attachment->session,
		            attachment->session);
	return EXIT_NOT_FOUND;
}

static int choose(struct attachment *attachment)
{
	struct query query;
	struct reader row;
	struct sandbar_error error;
	unsigned best = 0;
	uint32_t chosen = 0;

	if (query_session(&query, attachment->context.sandbar, "process.list", attachment->session, 0, &error) < 0)
		return context_fail(&attachment->context, NULL, &error);
	struct reader rows = query_field(&query.result, "processes");
	while (query_next(&rows, &row)) {
		unsigned rank = rank_of(attachment, &row);
		uint32_t number = (uint32_t)query_number(&row, "process");
		if (rank == 0 || rank < best || (rank == best && number < chosen))
			continue;
		best = rank;
		chosen = number;
		attachment->is_terminal = is_terminal(&row);
		attachment->is_running = is_running(&row);
	}
	query_finish(&query);
	if (!chosen)
		return no_process(attachment);
	attachment->process = chosen;
	return -1;
}

/* ---- What the session tells ---- */

static void on_frame(struct sandbar_channel *channel, unsigned kind, const void *frame, size_t length, void *user)
{
	struct attachment *attachment = user;

	(void)channel;
	if (attachment->options->json)
		outlet_event(&attachment->outlet, kind, frame, length);
}

static void on_output(struct sandbar_channel *channel, const struct sandbar_output *output, void *user)
{
	struct attachment *attachment = user;

	(void)channel;
	if (!attachment->options->json && output->process == attachment->process)
		outlet_output(&attachment->outlet, output);
}

static void on_exited(struct sandbar_channel *channel, uint32_t process, const struct sandbar_ending *ending,
                      void *user)
{
	struct attachment *attachment = user;

	(void)channel;
	if (process != attachment->process)
		return;
	attachment->ending = *ending;
	attachment->has_ending = true;
}

/* LESS: rows that are kept back, for a moment. */
static void tell_size(struct attachment *attachment, uint32_t less)
{
	uint32_t cols, rows;

	if (!attachment->is_raw || attachment->options->view || !attachment->channel || !attachment->is_running)
		return;
	terminal_size(&cols, &rows);
	sandbar_resize(attachment->channel, attachment->process, cols, rows > less ? rows - less : rows);
}

static void on_attached(struct sandbar_channel *channel, uint64_t first, uint64_t last, void *user)
{
	struct attachment *attachment = user;

	(void)channel, (void)first, (void)last;
	pump_update(&attachment->pump);
}

static void on_input(struct sandbar_channel *channel, uint32_t process, void *user)
{
	(void)channel, (void)process;
	pump_update(&((struct attachment *)user)->pump);
}

static void on_gap(struct sandbar_channel *channel, uint64_t from, uint64_t to, void *user)
{
	static const char NOTE[] = "\030\033[0m\r\n[sandbar: output was skipped here]\r\n";
	struct attachment *attachment = user;

	(void)channel, (void)from, (void)to;
	if (attachment->is_terminal && !attachment->options->json)
		outlet_text(&attachment->outlet, NOTE, sizeof(NOTE) - 1);
	else if (!attachment->options->json)
		context_say("output was skipped here");
}

static void on_closed(struct sandbar_channel *channel, const struct sandbar_error *why, void *user)
{
	struct attachment *attachment = user;

	(void)channel;
	pump_stop(&attachment->pump);
	attachment->channel = attachment->outlet.channel = NULL;
	attachment->closed = *why;
}

static const struct sandbar_events EVENTS = {
	.frame = on_frame,
	.attached = on_attached,
	.output = on_output,
	.exited = on_exited,
	.input = on_input,
	.gap = on_gap,
	.closed = on_closed,
};

/* ---- What the user does ---- */

static void leave(struct attachment *attachment)
{
	attachment->is_over = true;
	sandbar_interrupt(attachment->context.sandbar);
}

static void on_detach(void *user)
{
	struct attachment *attachment = user;

	attachment->is_detached = true;
	leave(attachment);
}

/* What was on the screen is gone meanwhile: a change of size makes the program draw it again. */
static void suspend(struct attachment *attachment)
{
	terminal_suspend();
	tell_size(attachment, 1);
}

static void on_signal(int number, void *user)
{
	struct attachment *attachment = user;

	if (number == SIGTSTP)
		suspend(attachment);
	if (number == SIGWINCH || number == SIGTSTP || number == SIGCONT) {
		tell_size(attachment, 0);
		return;
	}
	attachment->signal = number;
	leave(attachment);
}

static void on_write_failed(int errnum, void *user)
{
	struct attachment *attachment = user;

	attachment->write_errno = errnum;
	leave(attachment);
}

/* A viewer types nothing, but must be able to leave. */
static void on_viewer_typed(struct sandbar *sandbar, int fd, unsigned ready, void *user)
{
	struct attachment *attachment = user;
	uint8_t typed[256], passed[257];
	bool detach = false;
	ssize_t length = read(fd, typed, sizeof(typed));

	(void)ready;
	if (length <= 0) {
		sandbar_unwatch_fd(sandbar, fd);
		return;
	}
	size_t count = detach_key_feed(&attachment->pump.detach_key, typed, (size_t)length, passed, &detach);
	if (detach || memchr(passed, TYPED_INTERRUPT, count))
		on_detach(attachment);
}

/* ---- The way through ---- */

static int read_detach_key(struct attachment *attachment)
{
	const char *text = attachment->options->detach_key ? attachment->options->detach_key : "^]";
	const char *allowed = detach_key_parse(&attachment->pump.detach_key, text);

	if (!allowed)
		return -1;
	context_say("--detach-key: %s", allowed);
	return EXIT_USAGE;
}

static void enter_terminal(struct attachment *attachment)
{
	bool is_seen = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);

	if (!attachment->is_terminal || !attachment->is_running || attachment->options->json || !is_seen)
		return;
	attachment->is_raw = terminal_enter(STDIN_FILENO, &attachment->outlet.screen);
	attachment->context.is_quiet = attachment->is_raw;
}

static void start_input(struct attachment *attachment)
{
	if (!attachment->is_running || !attachment->is_terminal)
		return;
	attachment->pump.has_detach_key = attachment->is_raw;
	attachment->pump.on_detach = on_detach;
	attachment->pump.user = attachment;
	if (!attachment->options->view)
		pump_start(&attachment->pump, attachment->channel, attachment->process);
	else if (attachment->is_raw)
		sandbar_watch_fd(attachment->context.sandbar, STDIN_FILENO, SANDBAR_READABLE, on_viewer_typed, attachment,
		                 NULL);
}

static int begin_channel(struct attachment *attachment)
{
	struct sandbar_error error;
	struct sandbar_attachment request = {
		.session = attachment->session,
		.after = 0,
		.name = attachment->options->name,
		.role = attachment->options->view ? "viewer" : NULL,
		.processes = &attachment->process,
		.process_count = 1,
		.window = WINDOW,
		.paced = true,
		.events = &EVENTS,
		.user = attachment,
	};

	attachment->channel = sandbar_attach(attachment->context.sandbar, &request, &error);
	attachment->outlet.channel = attachment->channel;
	return attachment->channel ? -1 : context_fail(&attachment->context, NULL, &error);
}

static bool is_finished(const struct attachment *attachment)
{
	bool has_end = attachment->has_ending || attachment->closed.code[0];

	return attachment->is_over || (has_end && outlet_is_drained(&attachment->outlet));
}

static int outcome(const struct attachment *attachment)
{
	if (attachment->is_detached) {
		fputs(attachment->is_raw ? "\n" : "", stderr);
		context_say("detached from process %u of %s", attachment->process, attachment->session);
		return EXIT_OK;
	}
	if (attachment->signal)
		return 128 + attachment->signal;
	if (attachment->write_errno)
		return attachment->write_errno == EPIPE ? 128 + SIGPIPE : EXIT_FAILED;
	if (attachment->has_ending)
		return attachment->ending.exit_code < 0 ? EXIT_FAILED : attachment->ending.exit_code;
	return context_fail(&attachment->context, NULL, &attachment->closed);
}

static int follow(struct attachment *attachment)
{
	struct sandbar_error error;
	int status = 0;

	while (status == 0 && !is_finished(attachment))
		status = context_turn(&attachment->context, &error);
	pump_stop(&attachment->pump);
	terminal_leave();
	return is_finished(attachment) ? outcome(attachment) : context_fail(&attachment->context, NULL, &error);
}

static int prepare(struct attachment *attachment)
{
	const struct options *options = attachment->options;
	struct sandbar_error error;
	int status = options->argument_count > 1 ? context_process(options->arguments[1], &attachment->process) : -1;

	if (status < 0)
		status = context_session(&attachment->context, options->arguments[0], attachment->session);
	if (status < 0)
		status = choose(attachment);
	if (status >= 0)
		return status;
	outlet_init(&attachment->outlet, attachment->context.sandbar, on_write_failed, attachment);
	screen_init(&attachment->outlet.screen);
	attachment->outlet.screen.allows_clipboard = attachment->options->allow_clipboard;
	attachment->outlet.has_screen = attachment->is_terminal && isatty(STDOUT_FILENO);
	if (signals_watch(attachment->context.sandbar, WATCHED, on_signal, attachment, &error) < 0)
		return context_fail(&attachment->context, NULL, &error);
	return begin_channel(attachment);
}

int command_attach(struct options *options)
{
	struct attachment attachment = {.options = options};
	int status = read_detach_key(&attachment);

	if (status < 0)
		status = context_connect(&attachment.context, options);
	if (status < 0)
		status = prepare(&attachment);
	if (status < 0) {
		enter_terminal(&attachment);
		tell_size(&attachment, 0);
		start_input(&attachment);
		status = follow(&attachment);
	}
	if (attachment.outlet.out.sandbar)
		outlet_finish(&attachment.outlet);
	context_finish(&attachment.context);
	return status;
}
