#include "execution.h"

#include "escape.h"
#include "query.h"
#include "signals.h"
#include "terminal.h"
#include "protocol/wire.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	PIPE_WINDOW = 1024 * 1024,
	TERMINAL_WINDOW = 64 * 1024, /* small: what is on its way when ^C is typed */
	END_SLACK_MS = 5000,         /* the session of a run ends after its process */
	INTERRUPTS_TO_KILL = 2,
	INTERRUPTS_TO_LEAVE = 3,
};

static const int WATCHED[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, 0};
static const int WATCHED_RAW[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH, SIGTSTP, SIGCONT, 0};

/* ---- What the session tells ---- */

static bool is_ours(const struct execution *execution, uint32_t process)
{
	return execution->process == process || (execution->is_own && execution->process == 0);
}

static void on_frame(struct sandbar_channel *channel, unsigned kind, const void *frame, size_t length, void *user)
{
	struct execution *execution = user;

	(void)channel;
	if (execution->options->json)
		outlet_event(&execution->outlet, kind, frame, length);
}

static void on_output(struct sandbar_channel *channel, const struct sandbar_output *output, void *user)
{
	struct execution *execution = user;

	(void)channel;
	if (!execution->options->json && is_ours(execution, output->process))
		outlet_output(&execution->outlet, output);
}

static void on_started(struct sandbar_channel *channel, const struct sandbar_started *started, void *user)
{
	struct execution *execution = user;

	(void)channel;
	if (execution->started == 0)
		execution->started = started->process;
}

static void on_exited(struct sandbar_channel *channel, uint32_t process, const struct sandbar_ending *ending,
                      void *user)
{
	struct execution *execution = user;

	(void)channel;
	if (!is_ours(execution, process))
		return;
	execution->ending = *ending;
	execution->has_ending = true;
	pump_stop(&execution->pump);
}

static void on_attached(struct sandbar_channel *channel, uint64_t first, uint64_t last, void *user)
{
	struct execution *execution = user;

	(void)channel, (void)first, (void)last;
	execution->is_live = false;
	pump_update(&execution->pump);
}

static void on_live(struct sandbar_channel *channel, uint64_t seq, void *user)
{
	(void)channel, (void)seq;
	((struct execution *)user)->is_live = true;
}

static void on_input(struct sandbar_channel *channel, uint32_t process, void *user)
{
	(void)channel, (void)process;
	pump_update(&((struct execution *)user)->pump);
}

/* The ending may be among what is lost: it is asked for. */
static void on_waited(struct sandbar *sandbar, const struct sandbar_error *error, const void *result, size_t length,
                      void *user);

static void ask_for_ending(struct execution *execution)
{
	if (execution->process == 0 || execution->was_asked)
		return;
	execution->was_asked = true;
	query_wait(execution->context.sandbar, execution->session, execution->process, on_waited, execution);
}

static void on_gap(struct sandbar_channel *channel, uint64_t from, uint64_t to, void *user)
{
	struct execution *execution = user;

	(void)channel;
	context_say("events %llu to %llu were lost: output is missing here", (unsigned long long)from,
	            (unsigned long long)to);
	execution->has_lost = true;
	ask_for_ending(execution);
}

/* Once: each key that is typed is refused anew. */
static void tell_of_driver(struct execution *execution)
{
	if (!execution->has_told_of_driver)
		context_say("only who drives may type here now; `sandbar attach %s`, elsewhere, takes it or asks for it",
		            execution->session);
	execution->has_told_of_driver = true;
}

static void on_error(struct sandbar_channel *channel, uint32_t process, const struct sandbar_error *error, void *user)
{
	struct execution *execution = user;

	(void)channel, (void)process;
	if (execution->has_ending)
		return;
	/* As a pipe whose reader has left: the command itself decides what that means. */
	if (strcmp(error->code, "stdin_closed") == 0 || strcmp(error->code, "process_exited") == 0) {
		pump_stop(&execution->pump);
		return;
	}
	if (strcmp(error->code, "not_driver") == 0) { /* nothing is lost, and the program may go on for hours */
		tell_of_driver(execution);
		return;
	}
	context_fail(&execution->context, NULL, error);
	execution->has_lost = true;
}

static void on_closed(struct sandbar_channel *channel, const struct sandbar_error *why, void *user)
{
	struct execution *execution = user;

	(void)channel;
	pump_stop(&execution->pump);
	execution->channel = execution->outlet.channel = NULL;
	execution->closed = *why;
}

static const struct sandbar_events EVENTS = {
	.frame = on_frame,
	.attached = on_attached,
	.output = on_output,
	.started = on_started,
	.exited = on_exited,
	.live = on_live,
	.input = on_input,
	.gap = on_gap,
	.error = on_error,
	.closed = on_closed,
};

/* ---- What the user does ---- */

static void leave(struct execution *execution)
{
	execution->must_leave = true;
	sandbar_interrupt(execution->context.sandbar);
}

static void on_killed(struct sandbar *sandbar, const struct sandbar_error *error, const void *result, size_t length,
                      void *user)
{
	(void)sandbar, (void)error, (void)result, (void)length;
	((struct execution *)user)->must_leave = true;
}

static void kill_now(struct execution *execution, sandbar_answer answer)
{
	if (execution->process)
		sandbar_process_kill(execution->context.sandbar, execution->session, execution->process, 0, answer, execution,
		                     NULL);
	else
		leave(execution);
}

static void on_write_failed(int errnum, void *user)
{
	struct execution *execution = user;

	execution->write_errno = errnum;
	if (errnum != EPIPE)
		context_say("write: %s", strerror(errnum));
	if (execution->is_own)
		leave(execution); /* ending the session ends the command */
	else
		kill_now(execution, on_killed);
}

/* In a raw terminal no signal comes from the keyboard: one that comes is for this program, as it is for ssh. */
static void pass_signal(struct execution *execution, int number)
{
	bool is_cut = sandbar_state(execution->context.sandbar) == SANDBAR_CUT;

	execution->interrupts++;
	bool has_no_hope = execution->interrupts >= INTERRUPTS_TO_LEAVE || (is_cut && execution->interrupts > 1);
	if (execution->process == 0 || execution->is_raw || has_no_hope)
		leave(execution);
	else if (execution->interrupts >= INTERRUPTS_TO_KILL)
		kill_now(execution, NULL);
	else
		sandbar_process_signal(execution->context.sandbar, execution->session, execution->process, signals_name(number),
		                       true, NULL, NULL, NULL);
}

/* LESS: rows that are kept back, for a moment. */
static void tell_size(struct execution *execution, uint32_t less)
{
	uint32_t cols, rows;

	terminal_size(&cols, &rows);
	if (execution->channel && execution->process)
		sandbar_resize(execution->channel, execution->process, cols, rows > less ? rows - less : rows);
}

/* What was on the screen is gone meanwhile: a change of size makes the program draw it again. */
static void suspend(struct execution *execution)
{
	terminal_suspend();
	tell_size(execution, 1);
}

static void on_signal(int number, void *user)
{
	struct execution *execution = user;

	if (number == SIGTSTP)
		suspend(execution);
	if (number == SIGWINCH || number == SIGTSTP || number == SIGCONT) {
		tell_size(execution, 0);
		return;
	}
	execution->signal = number;
	if (number == SIGHUP && !execution->is_own)
		leave(execution); /* the terminal is gone, and the session stays: so does what runs in it */
	else
		pass_signal(execution, number);
}

static void on_command(int command, void *user)
{
	struct execution *execution = user;

	(void)command; /* the key alone leaves */
	execution->is_detached = true;
	leave(execution);
}

/* ---- The way through ---- */

static int fail(const struct execution *execution, const char *what, const struct sandbar_error *error)
{
	if (execution->signal && strcmp(error->code, "interrupted") == 0)
		return 128 + execution->signal;
	return context_fail(&execution->context, what, error);
}

static bool has_stdin(const struct options *options)
{
	int flags = fcntl(STDIN_FILENO, F_GETFL);
	bool is_readable = flags >= 0 && (flags & O_ACCMODE) != O_WRONLY;

	return is_readable && !options->no_stdin && (options->terminal || !isatty(STDIN_FILENO));
}

/* A terminal's kind is told to programs by TERM: the one in which they will be seen. */
static void pass_term(struct options *options)
{
	static char entry[128];
	const char *term = getenv("TERM");

	for (size_t i = 0; i < options->env.count; i++)
		if (strncmp(options->env.items[i], "TERM=", 5) == 0)
			return;
	if (!options->terminal || !term || strlen(term) > 64)
		return;
	snprintf(entry, sizeof(entry), "TERM=%s", term);
	options->env.items = realloc(options->env.items, (options->env.count + 2) * sizeof(*options->env.items));
	if (!options->env.items)
		abort();
	options->env.items[options->env.count++] = entry;
	options->env.items[options->env.count] = NULL;
}

/* Whether what is started goes with its client. */
static bool kills(const struct options *options, bool is_own)
{
	return options->on_disconnect ? strcmp(options->on_disconnect, "kill") == 0 : is_own && !options->keep;
}

static struct sandbar_process process_of(const struct execution *execution)
{
	const struct options *options = execution->options;
	bool is_killed = kills(options, execution->is_own);
	struct sandbar_process process = {
		.argv = options->program,
		.env = (const char *const *)options->env.items,
		.context = (const char *const *)options->context.items,
		.cwd = options->cwd,
		.name = options->name,
		.with_stdin = has_stdin(options) && !options->terminal,
		.kill_tree_on_exit = options->kill_tree,
		.kill_on_disconnect = is_killed,
		.disconnect_ms = is_killed ? context_away_ms(options) : 0,
		.wall_ms = options->wall_ms,
		.cpu_ms = options->cpu_ms,
		.idle_ms = options->idle_ms,
		.output_bytes = options->output_bytes,
		.grace_ms = options->has_grace ? (int64_t)options->grace_ms : -1,
	};

	if (options->terminal)
		terminal_size(&process.cols, &process.rows);
	return process;
}

static int attach(struct execution *execution, uint64_t after, struct sandbar_error *error)
{
	struct sandbar_attachment attachment = {
		.session = execution->session,
		.after = (int64_t)after,
		.lossless = true,
		.processes = execution->is_own ? NULL : &execution->process,
		.process_count = execution->is_own ? 0 : 1,
		.window = execution->options->terminal ? TERMINAL_WINDOW : PIPE_WINDOW,
		.paced = execution->options->terminal,
		.events = &EVENTS,
		.user = execution,
	};

	execution->channel = sandbar_attach(execution->context.sandbar, &attachment, error);
	execution->outlet.channel = execution->channel;
	return execution->channel ? 0 : -1;
}

/* In a session of our own the journal knows whether the start that was cut off took place. */
static int start_again(struct execution *execution, const struct sandbar_process *process, struct sandbar_error *error)
{
	while (!execution->is_live && !execution->must_leave)
		if (context_turn(&execution->context, error) < 0)
			return -1;
	execution->process = execution->started;
	if (execution->process)
		return 0;
	return sandbar_process_start(execution->context.sandbar, execution->session, process, &execution->process, NULL,
	                             error);
}

static int start_in_own(struct execution *execution, struct sandbar_error *error)
{
	struct sandbar_process process = process_of(execution);

	if (attach(execution, 0, error) < 0)
		return -1;
	int status = sandbar_process_start(execution->context.sandbar, execution->session, &process, &execution->process,
	                                   NULL, error);
	while (status < 0 && strcmp(error->code, "cut") == 0 && execution->channel) {
		execution->is_live = false;
		status = start_again(execution, &process, error);
	}
	return status;
}

static int start_in_shared(struct execution *execution, struct sandbar_error *error)
{
	struct sandbar_process process = process_of(execution);
	uint64_t seq = 1;

	if (sandbar_process_start(execution->context.sandbar, execution->session, &process, &execution->process, &seq,
	                          error) < 0)
		return -1;
	return attach(execution, seq ? seq - 1 : 0, error);
}

static bool enter_terminal(struct execution *execution)
{
	if (!execution->options->terminal || !terminal_enter(STDIN_FILENO))
		return false;
	execution->is_raw = execution->context.is_quiet = true;
	execution->pump.has_detach_key = !execution->is_own || execution->options->keep;
	return true;
}

static int read_detach_key(struct execution *execution)
{
	const char *text = execution->options->detach_key ? execution->options->detach_key : "^]";
	const char *allowed = detach_key_parse(&execution->pump.detach_key, text);

	if (!allowed)
		return -1;
	context_say("--detach-key: %s", allowed);
	return EXIT_USAGE;
}

static void start_pump(struct execution *execution)
{
	execution->pump.passes_eof = !isatty(STDIN_FILENO);
	execution->pump.on_command = on_command;
	execution->pump.user = execution;
	if (has_stdin(execution->options) && !execution->has_ending && execution->channel)
		pump_start(&execution->pump, execution->channel, execution->process);
}

static bool is_over(const struct execution *execution)
{
	return execution->must_leave ||
	       ((execution->has_ending || execution->closed.code[0]) && outlet_is_drained(&execution->outlet));
}

static int follow(struct execution *execution, struct sandbar_error *error)
{
	int status = 0;

	while (status == 0 && !is_over(execution))
		status = context_turn(&execution->context, error);
	pump_stop(&execution->pump);
	terminal_leave();
	return is_over(execution) ? 0 : status;
}

/* Reasons that the user would not guess from the exit code. */
static const struct reason_text {
	const char *reason, *text;
} REASONS[] = {
	{"timeout", "the command ran longer than it may"},
	{"idle", "the command was silent for longer than it may be"},
	{"cpu", "the command used more processor time than it may"},
	{"oom", "the command used more memory than it may"},
	{"output_limit", "the command wrote more than it may"},
	{"policy", "the command used a forbidden system call"},
	{"cancelled", "the command was cancelled"},
	{"lost", "how the command ended cannot be known"},
};

static void explain(const struct execution *execution)
{
	const struct sandbar_ending *ending = &execution->ending;

	if (ending->message[0]) {
		fputs("sandbar: ", stderr);
		escape_print(stderr, ending->message, strlen(ending->message));
		fputc('\n', stderr);
	}
	for (size_t i = 0; i < sizeof(REASONS) / sizeof(REASONS[0]); i++)
		if (strcmp(REASONS[i].reason, ending->reason) == 0)
			context_say("%s (%s)", REASONS[i].text, ending->control[0] ? ending->control : ending->reason);
}

static int exit_code_of(struct execution *execution)
{
	if (execution->write_errno)
		return execution->write_errno == EPIPE ? 128 + SIGPIPE : EXIT_OWN_FAILURE;
	if (execution->is_detached)
		return EXIT_OK;
	if (execution->has_ending) {
		explain(execution);
		return execution->has_lost || execution->ending.exit_code < 0 ? EXIT_OWN_FAILURE : execution->ending.exit_code;
	}
	if (execution->must_leave)
		return execution->signal ? 128 + execution->signal : EXIT_OWN_FAILURE;
	context_fail(&execution->context, NULL, &execution->closed);
	return EXIT_OWN_FAILURE;
}

static void on_waited(struct sandbar *sandbar, const struct sandbar_error *error, const void *result, size_t length,
                      void *user)
{
	struct execution *execution = user;

	(void)sandbar;
	if (error || execution->has_ending)
		return;
	execution->has_ending = query_ending(result, length, &execution->ending);
	pump_stop(&execution->pump);
}

static void end_session(struct execution *execution)
{
	struct sandbar_error error;

	if (!execution->is_own || !execution->session[0])
		return;
	if (execution->options->keep) {
		context_say("session %s", execution->session);
		return;
	}
	if (sandbar_state(execution->context.sandbar) == SANDBAR_GIVEN_UP || execution->closed.code[0])
		return;
	if (execution->channel)
		sandbar_detach(execution->channel);
	execution->channel = execution->outlet.channel = NULL;
	if (sandbar_session_end(execution->context.sandbar, execution->session, &error) < 0 &&
	    strcmp(error.code, "interrupted") == 0) /* one that came while the session was being ended */
		sandbar_session_end(execution->context.sandbar, execution->session, &error);
}

static int begin(struct execution *execution, struct options *options, bool is_own)
{
	struct sandbar_error error;

	*execution = (struct execution){.options = options, .is_own = is_own};
	int status = read_detach_key(execution);
	if (status < 0)
		status = context_init(&execution->context, options);
	if (status >= 0)
		return status;
	outlet_init(&execution->outlet, execution->context.sandbar, on_write_failed, execution);
	outlet_rules(&execution->outlet, options->allow_clipboard, false);
	bool is_raw = options->terminal && isatty(STDIN_FILENO);
	if (signals_watch(execution->context.sandbar, is_raw ? WATCHED_RAW : WATCHED, on_signal, execution, &error) < 0 ||
	    sandbar_connect(execution->context.sandbar, &error) < 0)
		return fail(execution, execution->context.url, &error);
	return -1;
}

static int finish(struct execution *execution, int status)
{
	if (execution->context.sandbar) {
		end_session(execution);
		outlet_finish(&execution->outlet);
	}
	context_finish(&execution->context);
	if (status == 128 + SIGPIPE && execution->write_errno == EPIPE)
		signals_die(SIGPIPE);
	return status;
}

static int go(struct execution *execution)
{
	struct sandbar_error error;
	int status = execution->is_own ? start_in_own(execution, &error) : start_in_shared(execution, &error);

	if (status < 0)
		return fail(execution, NULL, &error);
	if (enter_terminal(execution))
		tell_size(execution, 0);
	start_pump(execution);
	if (follow(execution, &error) < 0)
		return fail(execution, NULL, &error);
	if (execution->is_detached)
		context_say("detached; come back with: sandbar attach %s %u", execution->session, execution->process);
	return exit_code_of(execution);
}

int execution_run(struct options *options)
{
	struct execution execution;
	struct sandbar_error error;
	int status = begin(&execution, options, true);

	if (status >= 0)
		return finish(&execution, status);
	struct sandbar_session session = {
		.name = options->name ? options->name : "run",
		.template = options->template,
		.profile = options->profile,
		.require = (const char *const *)options->require.items,
		.context = (const char *const *)options->context.items,
		.limits = options->limits,
		.ttl_ms = options->ttl_ms,
		.disconnect_ms = kills(options, true) ? context_away_ms(options) + END_SLACK_MS : 0,
	};
	pass_term(options);
	if (sandbar_session_create(execution.context.sandbar, &session, execution.session, &error) < 0)
		return finish(&execution, fail(&execution, NULL, &error));
	if (options->json)
		outlet_session(&execution.outlet, execution.session);
	return finish(&execution, go(&execution));
}

int execution_exec(struct options *options)
{
	struct execution execution;
	int status = begin(&execution, options, false);

	if (status < 0)
		status = context_session(&execution.context, options->arguments[0], execution.session);
	if (status >= 0)
		return finish(&execution, status);
	pass_term(options);
	return finish(&execution, go(&execution));
}
