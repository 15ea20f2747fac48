#include "process.h"

#include "environment.h"
#include "session.h"

#include <assert.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

static const ev_tstamp poll_ending_s = 0.02; /* how often emptiness is looked for while a tree is being ended */
static const ev_tstamp poll_cpu_s = 0.1;     /* how often the cpu clock is read */
static const ev_tstamp quiet_s = 0.1;        /* how long an exited leader's terminal must have nothing to be drained */
static const ev_tstamp poll_survivors_s = 1; /* how often it is looked whether an exited leader's descendants live */

static struct ev_loop *loop_of(const struct process *process)
{
	return process->session->home->loop;
}

static const struct driver *driver_of(const struct process *process)
{
	return process->session->home->driver;
}

static void restart_timer(struct process *process, ev_timer *timer, ev_tstamp seconds)
{
	ev_timer_stop(loop_of(process), timer);
	ev_timer_set(timer, seconds, 0.);
	ev_timer_start(loop_of(process), timer);
}

static void tell_started(struct process *process)
{
	process->started_us = journal_now_us(process->session->journal);
	struct writer *event = session_event_begin(process->session, FRAME_STARTED, 2);
	writer_uint(event, process->number);
	writer_map(event, PROCESS_START_KEYS);
	writer_raw(event, process->start_map, process->start_map_length);
	process->started_seq = session_event_commit(process->session);
	struct process_watch *watch, *next;
	for (watch = LIST_FIRST(&process->watches); watch; watch = next) {
		next = LIST_NEXT(watch, link);
		if (watch->started)
			watch->started(watch, process);
	}
}

/* Take the watches that wait for a moment out of the list and call them. */
#define TELL(process, moment)                                                                                    \
	do {                                                                                                         \
		struct process_watch *watch_, *next_;                                                                    \
		for (watch_ = LIST_FIRST(&(process)->watches); watch_; watch_ = next_) {                                 \
			next_ = LIST_NEXT(watch_, link);                                                                     \
			if (!watch_->moment)                                                                                 \
				continue;                                                                                        \
			LIST_REMOVE(watch_, link);                                                                           \
			watch_->moment(watch_, process);                                                                     \
		}                                                                                                        \
	} while (0)

/* --- its end -------------------------------------------------------------------------------------------------- */

void process_forget_if_over(struct process *process)
{
	if (process->state != PROCESS_DONE || process->forgotten)
		return;
	for (size_t i = 0; i < process->source_count; i++)
		if (process->sources[i].fd >= 0)
			return;
	if (!process->is_empty) {
		if (!ev_is_active(&process->poll))
			restart_timer(process, &process->poll, poll_survivors_s);
		return;
	}
	process->forgotten = true;
	ev_timer_stop(loop_of(process), &process->poll);
	if (process->session->sandbox)
		driver_of(process)->forget(process->session->sandbox, process->number);
}

static void stop_clocks(struct process *process)
{
	ev_timer *const timers[] = {&process->wall, &process->idle, &process->poll, &process->grace, &process->quiet};
	for (size_t i = 0; i < sizeof timers / sizeof *timers; i++)
		ev_timer_stop(loop_of(process), timers[i]);
	if (process->is_empty) /* else it is its survivors' */
		ev_timer_stop(loop_of(process), &process->disconnect);
}

void process_settle(struct process *process)
{
	bool ready = process->state == PROCESS_REAPED && process->usage_known && sources_are_drained(process) &&
	             (process->is_empty || !process->must_empty);
	if (!ready)
		return;
	process->state = PROCESS_DONE;
	stop_clocks(process);
	process->ending.wall_us = journal_now_us(process->session->journal) - process->started_us;
	if (process->ending.reason != REASON_LOST)
		ending_decide(&process->ending, process->wait_status, &process->intervention);
	input_close(&process->input);
	struct writer *event = session_event_begin(process->session, FRAME_EXITED, 2);
	writer_uint(event, process->number);
	process_write_ending(event, process);
	process->exited_seq = session_event_commit(process->session);
	process_forget_if_over(process);
	TELL(process, done);
	session_process_done(process->session);
}

static void ask_usage(struct process *process)
{
	process->usage_asked++;
	driver_of(process)->usage(process->session->sandbox, process->number);
}

static void begin_drain(struct process *process)
{
	sources_measure(process);
	if (process->terminal)
		restart_timer(process, &process->quiet, quiet_s);
	sources_read(process);
}

void process_exited(struct process *process, int wait_status, const struct rusage *usage)
{
	if (process->state != PROCESS_RUNNING)
		return;
	if (wait_status == -1) {
		process_lost(process, "who waited for it was killed");
		return;
	}
	process->state = PROCESS_REAPED;
	process->wait_status = wait_status;
	process->ending.usage = (struct process_usage){
		.user_us = (uint64_t)usage->ru_utime.tv_sec * 1000000 + (uint64_t)usage->ru_utime.tv_usec,
		.system_us = (uint64_t)usage->ru_stime.tv_sec * 1000000 + (uint64_t)usage->ru_stime.tv_usec,
		.memory_peak = (uint64_t)usage->ru_maxrss * 1024,
		.oom_kills = UINT64_MAX,
		.populated = UINT64_MAX,
	};
	ev_timer_stop(loop_of(process), &process->wall);
	ev_timer_stop(loop_of(process), &process->idle);
	ask_usage(process);
	process->usage_needed = process->usage_asked;
	if (process->kill_on_exit && !process->kill_sent)
		process_end(process, REASON_NONE, NULL, 0);
	begin_drain(process);
	process_settle(process);
}

static void tree_is_empty(struct process *process)
{
	process->is_empty = true;
	ev_timer_stop(loop_of(process), &process->grace);
	ev_timer_stop(loop_of(process), &process->disconnect);
	if (process->state == PROCESS_REAPED && process->must_empty)
		begin_drain(process); /* nobody can write any more: all there is, is there */
	TELL(process, empty);
	if (process->state == PROCESS_DONE)
		process_forget_if_over(process);
	else
		process_settle(process);
}

void process_killed(struct process *process)
{
	tree_is_empty(process);
}

static void take_usage(struct process_usage *to, const struct process_usage *from)
{
	uint64_t *const into[] = {&to->user_us, &to->system_us, &to->memory_peak, &to->oom_kills, &to->populated};
	const uint64_t values[] = {from->user_us, from->system_us, from->memory_peak, from->oom_kills, from->populated};
	for (size_t i = 0; i < sizeof into / sizeof *into; i++)
		if (values[i] != UINT64_MAX)
			*into[i] = values[i];
}

void process_usage(struct process *process, const struct process_usage *usage)
{
	process->usage_answered++;
	if (process->state != PROCESS_DONE)
		take_usage(&process->ending.usage, usage);
	uint64_t cpu_us = usage->user_us == UINT64_MAX ? 0 : usage->user_us + usage->system_us;
	if (process->state == PROCESS_RUNNING && process->cpu_ms > 0 && cpu_us / 1000 >= process->cpu_ms)
		process_end(process, REASON_CPU, "cpu", process->grace_ms);
	if (process->state < PROCESS_REAPED)
		return;
	if (!process->usage_known && process->usage_answered >= process->usage_needed)
		process->usage_known = true;
	if (usage->populated == 0 && !process->is_empty)
		tree_is_empty(process);
	else
		process_settle(process);
}

void process_lost(struct process *process, const char *message)
{
	if (process->state == PROCESS_STARTING) {
		process_start_failed(process, 0, "session_ended", message);
		return;
	}
	if (process->state == PROCESS_DONE) {
		process->forgotten = true;
		tree_is_empty(process);
		return;
	}
	if (process->state == PROCESS_RUNNING) {
		process->ending.reason = REASON_LOST;
		process->ending.exit_code = -1;
		snprintf(process->ending.message, sizeof process->ending.message, "%s", message);
		process->ending.usage = (struct process_usage){UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX};
	}
	process->state = PROCESS_REAPED;
	process->must_empty = process->usage_known = true;
	tree_is_empty(process);
}

static void begin_kill(struct process *process)
{
	ev_timer_stop(loop_of(process), &process->grace);
	process->kill_sent = true;
	if (process->session->sandbox)
		driver_of(process)->kill(process->session->sandbox, process->number);
}

void process_end(struct process *process, enum reason reason, const char *control, uint64_t grace_ms)
{
	/* What an exited process had written can still be over its limit: it is cut, and the ending must say so. */
	enum process_state before = reason == REASON_OUTPUT_LIMIT ? PROCESS_DONE : PROCESS_REAPED;
	if (process->state < before && process->intervention.reason == REASON_NONE) {
		process->intervention.reason = reason;
		process->intervention.control = control;
	}
	process->must_empty = true;
	if (process->state == PROCESS_STARTING) {
		process->kill_sent = true; /* process_started() goes on */
		return;
	}
	if (grace_ms == 0) {
		begin_kill(process);
		return;
	}
	if (ev_is_active(&process->grace) || process->kill_sent || !process->session->sandbox)
		return;
	driver_of(process)->signal(process->session->sandbox, process->number, SIGTERM, SIGNAL_TREE);
	restart_timer(process, &process->grace, (double)grace_ms / 1e3);
	restart_timer(process, &process->poll, poll_ending_s);
}

void process_kill(struct process *process, uint64_t grace_ms, struct process_watch *watch)
{
	if (process->is_empty) {
		watch->empty(watch, process);
		return;
	}
	LIST_INSERT_HEAD(&process->watches, watch, link);
	process_end(process, REASON_KILLED, NULL, grace_ms);
}

void process_signal(struct process *process, int signo, enum signal_scope scope)
{
	process->intervention.signals |= UINT64_C(1) << signo;
	driver_of(process)->signal(process->session->sandbox, process->number, signo, scope);
}

/* --- its terminal's size ------------------------------------------------------------------------------------------ */

bool process_resize(struct process *process, uint16_t cols, uint16_t rows)
{
	if (!process->terminal || process->source_count == 0 || process->sources[0].fd < 0)
		return false;
	const struct winsize size = {.ws_row = rows, .ws_col = cols};
	if (process->cols == cols && process->rows == rows)
		return true;
	if (ioctl(process->sources[0].fd, TIOCSWINSZ, &size) < 0)
		return false;
	process->cols = cols;
	process->rows = rows;
	struct writer *event = session_event_begin(process->session, FRAME_RESIZED, 3);
	writer_uint(event, process->number);
	writer_uint(event, cols);
	writer_uint(event, rows);
	session_event_commit(process->session);
	return true;
}

/* --- its beginning ---------------------------------------------------------------------------------------------- */

static void on_wall(struct ev_loop *loop, ev_timer *timer, int events)
{
	(void)loop, (void)events;
	struct process *process = timer->data;
	process_end(process, REASON_TIMEOUT, "wall", process->grace_ms);
}

static void on_idle(struct ev_loop *loop, ev_timer *timer, int events)
{
	(void)events;
	struct process *process = timer->data;
	if (process->held) { /* the silence is ours, not the process's */
		ev_timer_again(loop, timer);
		return;
	}
	ev_timer_stop(loop, timer);
	process_end(process, REASON_IDLE, "idle", process->grace_ms);
}

static void on_grace(struct ev_loop *loop, ev_timer *timer, int events)
{
	(void)loop, (void)events;
	begin_kill(timer->data);
}

static void on_disconnect(struct ev_loop *loop, ev_timer *timer, int events)
{
	(void)loop, (void)events;
	struct process *process = timer->data;
	process_end(process, REASON_CANCELLED, "disconnect", process->grace_ms);
}

/* The terminal of an exited leader hangs up at once (then its source ends), unless the leader had given it away. */
static void on_quiet(struct ev_loop *loop, ev_timer *timer, int events)
{
	(void)loop, (void)events;
	struct process *process = timer->data;
	if (process->state != PROCESS_REAPED)
		return;
	if (process->held || !sources_give_up(process))
		restart_timer(process, timer, quiet_s);
	process_settle(process);
}

static void on_poll(struct ev_loop *loop, ev_timer *timer, int events)
{
	(void)loop, (void)events;
	struct process *process = timer->data;
	if (!process->session->sandbox)
		return;
	ask_usage(process);
	bool is_ending = process->must_empty && !process->is_empty;
	if (is_ending)
		restart_timer(process, timer, poll_ending_s);
	else if (process->state == PROCESS_DONE && !process->is_empty)
		restart_timer(process, timer, poll_survivors_s);
	else if (process->state == PROCESS_RUNNING && process->cpu_ms > 0)
		restart_timer(process, timer, poll_cpu_s);
}

static void start_clocks(struct process *process)
{
	if (process->wall_ms > 0)
		restart_timer(process, &process->wall, (double)process->wall_ms / 1e3);
	if (process->idle_ms > 0)
		ev_timer_again(loop_of(process), &process->idle);
	if (process->cpu_ms > 0)
		restart_timer(process, &process->poll, poll_cpu_s);
}

void process_client_left(struct process *process)
{
	if (process->state < PROCESS_REAPED || !process->is_empty)
		restart_timer(process, &process->disconnect, (double)process->disconnect_ms / 1e3);
}

void process_client_back(struct process *process)
{
	ev_timer_stop(loop_of(process), &process->disconnect);
}

/* The input that came with the request, and its end. */
static void send_first_input(struct process *process)
{
	static const struct input_sender nobody = {.participant = 0};
	if (!process->first_input)
		return;
	input_take(&process->input, &nobody, 0, process->first_input, process->first_input_length);
	input_take_end(&process->input, &nobody, process->first_input_length);
	free(process->first_input);
	process->first_input = NULL;
}

void process_started(struct process *process, const struct process_streams *streams)
{
	process->state = PROCESS_RUNNING;
	tell_started(process);
	if (process->terminal) {
		source_open(process, STREAM_TTY, streams->tty_fd);
	} else {
		source_open(process, STREAM_STDOUT, streams->stdout_fd);
		source_open(process, STREAM_STDERR, streams->stderr_fd);
	}
	int in = process->terminal ? streams->tty_fd : streams->stdin_fd;
	if (in >= 0)
		input_open(&process->input, in, process->terminal);
	send_first_input(process);
	start_clocks(process);
	if (process->kill_sent) { /* its end was asked for while it started */
		process->kill_sent = false;
		begin_kill(process);
	}
}

/* Nothing runs and nothing will: drop it as if it had never been asked for. */
static void drop(struct process *process, const char *code, const char *message)
{
	struct session *session = process->session;
	struct process_watch *watch;
	while ((watch = LIST_FIRST(&process->watches))) {
		LIST_REMOVE(watch, link);
		if (watch->not_started)
			watch->not_started(watch, code, message);
		else
			watch->empty(watch, process);
	}
	TAILQ_REMOVE(&session->processes, process, link);
	session->process_count--;
	session_process_done(session);
	process_free(process);
}

void process_start_failed(struct process *process, int exit_code, const char *code, const char *message)
{
	if (process->state != PROCESS_STARTING)
		return;
	if (exit_code == 0) {
		drop(process, code, message);
		return;
	}
	tell_started(process);
	if (process->terminal) {
		source_open(process, STREAM_TTY, -1);
	} else {
		source_open(process, STREAM_STDOUT, -1);
		source_open(process, STREAM_STDERR, -1);
	}
	process->state = PROCESS_REAPED;
	process->wait_status = exit_code << 8; /* as wait(2) encodes it */
	process->intervention = (struct intervention){0};
	process->usage_known = process->is_empty = true;
	snprintf(process->ending.message, sizeof process->ending.message, "%s", message);
	TELL(process, empty);
	process_settle(process);
}

static void init_timers(struct process *process)
{
	ev_timer_init(&process->wall, on_wall, 0., 0.);
	ev_timer_init(&process->idle, on_idle, 0., (double)process->idle_ms / 1e3);
	ev_timer_init(&process->poll, on_poll, 0., 0.);
	ev_timer_init(&process->grace, on_grace, 0., 0.);
	ev_timer_init(&process->disconnect, on_disconnect, 0., 0.);
	ev_timer_init(&process->quiet, on_quiet, 0., 0.);
	ev_timer *const timers[] = {&process->wall, &process->idle, &process->poll, &process->grace, &process->disconnect,
	                            &process->quiet};
	for (size_t i = 0; i < sizeof timers / sizeof *timers; i++)
		timers[i]->data = process;
}

static struct process *allocate(struct session *session, uint32_t number, const struct process_options *options)
{
	struct process *process = calloc(1, sizeof *process);
	if (!process)
		abort();
	process->session = session;
	process->number = number;
	process->terminal = options->terminal;
	process->wants_stdin = options->wants_stdin;
	process->kill_on_exit = options->kill_on_exit;
	process->kill_on_disconnect = options->kill_on_disconnect;
	process->cols = options->cols;
	process->rows = options->rows;
	process->output_limit = options->output_bytes;
	process->grace_ms = options->grace_ms;
	process->idle_ms = options->idle_ms;
	process->cpu_ms = options->cpu_ms;
	process->wall_ms = options->wall_ms;
	process->disconnect_ms = options->disconnect_ms;
	memcpy(process->client, options->client, sizeof process->client);
	LIST_INIT(&process->watches);
	init_timers(process);
	input_init(&process->input, process);
	if (options->input) {
		process->first_input = malloc(options->input_length + 1);
		if (!process->first_input)
			abort();
		memcpy(process->first_input, options->input, options->input_length);
		process->first_input_length = options->input_length;
	}
	process_remember_start(process, options);
	return process;
}

struct process *process_start(struct session *session, uint32_t number, const struct process_options *options,
                              struct process_watch *watch)
{
	struct process *process = allocate(session, number, options);
	LIST_INSERT_HEAD(&process->watches, watch, link);
	const char **environment = environment_create(session->env, options->envp, options->terminal);
	const struct process_spec spec = {
		.process = number,
		.argv = options->argv,
		.envp = environment,
		.cwd = options->cwd,
		.terminal = options->terminal,
		.wants_stdin = options->wants_stdin,
		.cols = options->cols,
		.rows = options->rows,
	};
	driver_of(process)->start(session->sandbox, &spec);
	environment_destroy(environment);
	return process;
}

void process_free(struct process *process)
{
	assert(LIST_EMPTY(&process->watches));
	process->is_empty = true;
	stop_clocks(process);
	input_close(&process->input);
	input_finish(&process->input);
	for (size_t i = 0; i < process->source_count; i++)
		if (process->sources[i].fd >= 0)
			source_close(&process->sources[i]);
	free(process->first_input);
	free(process->start_map);
	free(process);
}
