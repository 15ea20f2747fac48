/* `attach`: this terminal into one of a session. */
#include "attach.h"

#include "commands.h"
#include "query.h"
#include "signals.h"
#include "terminal.h"
#include "clients/c/decode.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Of a past longer than this a screen is shown instead. */
enum { WINDOW = 64 * 1024, REPLAY = 64 * 1024, SCREENS_A_SECOND = 30 };

static const int WATCHED[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH, SIGTSTP, SIGCONT, SIGPIPE, 0};

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
		struct reader size = query_field(&row, "terminal");
		attachment->is_terminal = is_terminal(&row);
		attachment->cols = (uint32_t)query_number(&size, "cols");
		attachment->rows = (uint32_t)query_number(&size, "rows");
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
	if (attachment->options->json || output->process != attachment->process)
		return;
	if (attachment->is_shown)
		window_output(&attachment->window, output->data, output->length);
	else
		outlet_output(&attachment->outlet, output);
}

static void on_screen(struct sandbar_channel *channel, const struct sandbar_screen *screen, void *user)
{
	struct attachment *attachment = user;

	(void)channel;
	if (attachment->is_shown && screen->process == attachment->process)
		window_screen(&attachment->window, screen->cols, screen->rows, screen->data, screen->length);
}

static void on_resized(struct sandbar_channel *channel, uint32_t process, uint32_t cols, uint32_t rows, void *user)
{
	struct attachment *attachment = user;

	(void)channel;
	if (attachment->is_shown && process == attachment->process)
		window_resized(&attachment->window, cols, rows);
}

static void take_ending(struct attachment *attachment, const struct sandbar_ending *ending)
{
	attachment->ending = *ending;
	attachment->has_ending = true;
}

static void on_exited(struct sandbar_channel *channel, uint32_t process, const struct sandbar_ending *ending,
                      void *user)
{
	struct attachment *attachment = user;

	(void)channel;
	if (process == attachment->process)
		take_ending(attachment, ending);
}

/* The answer to process.wait: it had ended before we were attached. */
static void on_waited(struct sandbar *sandbar, const struct sandbar_error *error, const void *result, size_t length,
                      void *user)
{
	struct attachment *attachment = user;
	struct sandbar_ending ending;

	(void)sandbar;
	if (!error && !attachment->has_ending && query_ending(result, length, &ending))
		take_ending(attachment, &ending);
}

void attach_tell_size(struct attachment *attachment)
{
	const struct window *window = &attachment->window;

	if (attachment->crowd.me != 0 && attachment->is_shown && !attachment->options->view && attachment->channel &&
	    attachment->is_running && crowd_may_edit(&attachment->crowd))
		sandbar_resize(attachment->channel, attachment->process, window->cols, window_program_rows(window));
}

static void on_joined(struct sandbar_channel *channel, const void *map, size_t length, void *user)
{
	struct attachment *attachment = user;
	struct reader reader = reader_over(map, length);
	bool is_first = attachment->crowd.me == 0;
	bool is_there = crowd_begin(&attachment->crowd, &reader);

	(void)channel;
	attachment->window.takes_keys = !attachment->options->view && crowd_may_edit(&attachment->crowd);
	if (is_first && attachment->is_shown && !is_there)
		query_wait(attachment->context.sandbar, attachment->session, attachment->process, on_waited, attachment);
	if (is_first)
		attach_tell_size(attachment);
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

/* What our terminal shows is made good by the screen that follows. */
static void on_gap(struct sandbar_channel *channel, uint64_t from, uint64_t to, void *user)
{
	struct attachment *attachment = user;

	(void)channel, (void)from, (void)to;
	if (!attachment->is_shown && !attachment->options->json)
		context_say("output was skipped here");
}

/* After a gap: the ending may have been in it. */
static void on_state(struct sandbar_channel *channel, uint64_t seq, const void *map, size_t length, void *user)
{
	struct attachment *attachment = user;
	struct reader reader = reader_over(map, length), row;
	struct reader rows = query_field(&reader, "processes");
	struct sandbar_ending ending;

	(void)channel, (void)seq;
	if (!query_is_nil(&reader, "participants"))
		crowd_begin(&attachment->crowd, &reader);
	while (query_next(&rows, &row)) {
		struct reader exited = query_field(&row, "exited");
		if (query_number(&row, "process") == attachment->process && decode_ending(&exited, &ending))
			take_ending(attachment, &ending);
	}
}

static void on_participant(struct sandbar_channel *channel, const struct sandbar_participant *participant, void *user)
{
	(void)channel;
	attach_person_changed(user, participant);
}

static void on_driver(struct sandbar_channel *channel, const struct sandbar_driver *driver, void *user)
{
	(void)channel;
	attach_driver_changed(user, driver);
}

static void on_note(struct sandbar_channel *channel, const struct sandbar_note *note, void *user)
{
	(void)channel;
	attach_note(user, note);
}

static void on_typing(struct sandbar_channel *channel, uint32_t participant, uint32_t process, void *user)
{
	struct attachment *attachment = user;

	(void)channel;
	if (process == attachment->process)
		crowd_typing(&attachment->crowd, participant, attachment->now_ms);
}

/* What was refused is told in the line, as far as there is one. */
static void on_error(struct sandbar_channel *channel, uint32_t process, const struct sandbar_error *error, void *user)
{
	(void)channel, (void)process;
	attach_notice(user, "%s", error->message);
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
	.joined = on_joined,
	.attached = on_attached,
	.output = on_output,
	.screen = on_screen,
	.resized = on_resized,
	.exited = on_exited,
	.participant = on_participant,
	.driver = on_driver,
	.note = on_note,
	.typing = on_typing,
	.input = on_input,
	.gap = on_gap,
	.state = on_state,
	.error = on_error,
	.closed = on_closed,
};

/* ---- What the user does ---- */

void attach_leave(struct attachment *attachment)
{
	attachment->is_over = true;
	sandbar_interrupt(attachment->context.sandbar);
}

static void fit(struct attachment *attachment)
{
	uint32_t cols, rows;

	if (!attachment->is_shown)
		return;
	terminal_size(&cols, &rows);
	window_fit(&attachment->window, cols, rows);
	attach_tell_size(attachment);
}

static void on_signal(int number, void *user)
{
	struct attachment *attachment = user;

	if (number == SIGTSTP) {
		terminal_suspend();
		if (attachment->is_shown)
			window_renew(&attachment->window);
	}
	if (number == SIGWINCH || number == SIGTSTP || number == SIGCONT) {
		fit(attachment);
		return;
	}
	attachment->signal = number;
	attach_leave(attachment);
}

static void on_write_failed(int errnum, void *user)
{
	struct attachment *attachment = user;

	attachment->write_errno = errnum;
	attach_leave(attachment);
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

/* Whether our terminal shows the session's, rather than a pipe or a file getting its bytes. */
static bool will_be_shown(const struct attachment *attachment)
{
	return attachment->is_terminal && attachment->is_running && !attachment->options->json && isatty(STDIN_FILENO) &&
	       isatty(STDOUT_FILENO);
}

static void enter_terminal(struct attachment *attachment)
{
	if (!attachment->is_shown)
		return;
	attachment->is_shown = terminal_enter(STDIN_FILENO);
	attachment->context.is_quiet = attachment->is_shown;
	fit(attachment);
	window_resized(&attachment->window, attachment->cols, attachment->rows);
}

static void start_input(struct attachment *attachment)
{
	if (!attachment->is_running || !attachment->is_terminal || (attachment->options->view && !attachment->is_shown))
		return;
	attachment->pump.has_detach_key = attachment->pump.detach_key.is_prefix = attachment->is_shown;
	attachment->pump.on_command = attach_command;
	attachment->pump.may_type = attach_may_type;
	attachment->pump.user = attachment;
	pump_start(&attachment->pump, attachment->channel, attachment->process);
}

static int begin_channel(struct attachment *attachment)
{
	struct sandbar_error error;
	struct sandbar_attachment request = {
		.session = attachment->session,
		.after = attachment->is_shown ? SANDBAR_FROM_NOW : 0,
		.name = attachment->options->name,
		.role = attachment->options->view ? "viewer" : NULL,
		.processes = &attachment->process,
		.process_count = 1,
		.window = WINDOW,
		.replay = attachment->is_shown ? REPLAY : 0,
		.screens = attachment->is_shown && attachment->options->safe ? SCREENS_A_SECOND : 0,
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
		fputs(attachment->is_shown ? "\n" : "", stderr);
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

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Bring what is shown up to date. Returns after how many milliseconds that is to be done again; -1: after an event. */
static int show(struct attachment *attachment)
{
	attachment->now_ms = now_ms();
	if (!attachment->is_shown)
		return -1;
	int line_ms = attach_line(attachment);
	int window_ms = window_turn(&attachment->window, attachment->now_ms);
	return window_ms < 0 || (line_ms >= 0 && line_ms < window_ms) ? line_ms : window_ms;
}

static void leave_terminal(struct attachment *attachment)
{
	pump_stop(&attachment->pump);
	terminal_leave();
	if (attachment->is_shown && attachment->has_ending && !attachment->is_detached)
		window_farewell(&attachment->window);
}

static int follow(struct attachment *attachment)
{
	struct sandbar_error error;
	int status = 0, wait_ms = show(attachment);

	while (status == 0 && !is_finished(attachment)) {
		status = context_turn_within(&attachment->context, wait_ms, &error);
		wait_ms = show(attachment);
	}
	leave_terminal(attachment);
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
	attachment->is_shown = will_be_shown(attachment);
	attachment->crowd.process = attachment->process;
	outlet_init(&attachment->outlet, attachment->context.sandbar, on_write_failed, attachment);
	/* what is not drawn from a screen of the server's comes from the program: to be safe, as text alone */
	outlet_rules(&attachment->outlet, options->allow_clipboard, options->safe && !attachment->is_shown);
	window_init(&attachment->window, &attachment->outlet);
	attachment->window.is_safe = options->safe;
	attachment->window.has_status = !options->no_status;
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
		start_input(&attachment);
		status = follow(&attachment);
	}
	if (attachment.outlet.out.sink.sandbar) {
		window_finish(&attachment.window);
		outlet_finish(&attachment.outlet);
	}
	context_finish(&attachment.context);
	return status;
}
