/* How a process begins: asked of the driver, started or not; and how a restored one goes on. */
#include "environment.h"
#include "session.h"
#include "shell.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct driver *driver_of(const struct process *process)
{
	return process->session->home->driver;
}

static void tell_started(struct process *process)
{
	process->started_us = journal_now_us(process->session->journal);
	process->started_seq = journal_last_seq(process->session->journal) + 1;
	process_save(process);
	struct writer *event = session_event_begin(process->session, FRAME_STARTED, 2);
	writer_uint(event, process->number);
	writer_map(event, PROCESS_START_KEYS);
	writer_raw(event, process->start_map, process->start_map_length);
	session_event_commit(process->session);
	struct process_watch *watch, *next;
	for (watch = LIST_FIRST(&process->watches); watch; watch = next) {
		next = LIST_NEXT(watch, link);
		if (watch->started)
			watch->started(watch, process);
	}
}

/* The input that came with the request, and its end. */
static void send_first_input(struct process *process)
{
	if (!process->first_input)
		return;
	input_take_whole(&process->input, process->first_input, process->first_input_length);
	free(process->first_input);
	process->first_input = NULL;
}

static void open_sources(struct process *process, const struct process_streams *streams)
{
	process->source_count = 0;
	if (process->terminal) {
		source_open(process, STREAM_TTY, streams->tty_fd);
	} else {
		source_open(process, STREAM_STDOUT, streams->stdout_fd);
		source_open(process, STREAM_STDERR, streams->stderr_fd);
	}
}

void process_restore_sources(struct process *process)
{
	open_sources(process, &PROCESS_STREAMS_NONE);
	for (size_t i = 0; i < process->source_count; i++)
		process->sources[i].offset = process->record->offsets[i];
	for (size_t i = 0; i < process->source_count; i++)
		process->output_total += process->sources[i].offset;
}

/* A stream that had ended before stays so; the others are read on from where they were. */
static void reopen_sources(struct process *process, const struct process_streams *streams)
{
	uint64_t offsets[PROCESS_STREAMS];
	for (size_t i = 0; i < process->source_count; i++)
		offsets[i] = process->sources[i].offset;
	open_sources(process, streams);
	for (size_t i = 0; i < process->source_count; i++) {
		process->sources[i].offset = offsets[i];
		if (process->record->stream_ended[i] && process->sources[i].fd >= 0)
			source_close(&process->sources[i]);
	}
}

static void close_pipe(int fd)
{
	if (fd >= 0)
		close(fd);
}

/* Of one that has exited, survivors may live: what was to end them still is. */
static void survivors_go_on(struct process *process)
{
	process_forget_if_over(process);
	if (process->forgotten)
		return;
	if (process->kill_on_disconnect)
		process_client_left(process);
	if (process->must_empty)
		process_end_goes_on(process);
}

/* A restored process that init knows: as before, with its streams; its clocks go on. */
static void go_on(struct process *process, const struct process_streams *streams)
{
	process->awaits_init = false;
	reopen_sources(process, streams);
	int in = process->terminal ? process->sources[0].fd : streams->stdin_fd;
	process->input.had_stdin = process->terminal || process->wants_stdin;
	if (process->state == PROCESS_DONE) {
		close_pipe(streams->stdin_fd);
		close_pipe(streams->command_fd);
		close_pipe(streams->status_fd);
		survivors_go_on(process);
		return;
	}
	if (in >= 0)
		input_open(&process->input, in, process->terminal);
	process->input.end_taken = process->input.had_stdin && in < 0;
	if (process->is_shell)
		shell_open(process, streams->command_fd, streams->status_fd, true);
	clocks_start(process);
	if (process->kill_on_disconnect)
		process_client_left(process);
	if (process->is_run) /* who waited for it is gone */
		process_end(process, REASON_CANCELLED, "disconnect", 0);
	else if (process->must_empty || process->kill_sent)
		process_end_goes_on(process);
}

void process_missed(struct process *process)
{
	if (!process->awaits_init)
		return;
	process->awaits_init = false;
	process_lost(process, "it was lost while the gateway was away");
}

void process_started(struct process *process, const struct process_streams *streams)
{
	if (process->awaits_init && process->state != PROCESS_STARTING) {
		go_on(process, streams);
		return;
	}
	process->awaits_init = false;
	process->state = PROCESS_RUNNING;
	tell_started(process);
	open_sources(process, streams);
	if (process->terminal)
		display_open(&process->display, process->cols, process->rows);
	int in = process->terminal ? streams->tty_fd : streams->stdin_fd;
	if (in >= 0)
		input_open(&process->input, in, process->terminal);
	send_first_input(process);
	if (process->is_shell)
		shell_open(process, streams->command_fd, streams->status_fd, false);
	clocks_start(process);
	if (process->kill_sent) { /* its end was asked for while it started */
		process->kill_sent = false;
		process_kill_now(process);
	} else if (process->is_run && LIST_EMPTY(&process->watches)) {
		process_end(process, REASON_CANCELLED, "disconnect", 0); /* who waits for it was gone with a gateway */
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
	process->record->number = 0;
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
	process_restore_sources(process); /* that have ended before they began */
	process->awaits_init = false;
	process->state = PROCESS_REAPED;
	process->wait_status = exit_code << 8; /* as wait(2) encodes it */
	process->intervention = (struct intervention){0};
	process->usage_known = process->is_empty = true;
	snprintf(process->ending.message, sizeof process->ending.message, "%s", message);
	process_tell_empty(process);
	process_settle(process);
}

struct process *process_create(struct session *session, uint32_t number, const struct process_options *options)
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
	process->is_run = options->is_run;
	process->is_shell = options->is_shell;
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
	clocks_init(process);
	input_init(&process->input, process);
	sharing_init(&process->sharing, process);
	display_init(&process->display, process);
	return process;
}

static void keep_first_input(struct process *process, const struct process_options *options)
{
	if (!options->input)
		return;
	process->first_input = malloc(options->input_length + 1);
	if (!process->first_input)
		abort();
	memcpy(process->first_input, options->input, options->input_length);
	process->first_input_length = options->input_length;
}

static void ask_driver(struct process *process, const struct process_options *options)
{
	const struct session *session = process->session;
	const char **environment = environment_create((enum inner_user)session->limits.user, session->env, options->envp,
	                                              options->terminal);
	const struct process_spec spec = {
		.process = process->number,
		.argv = options->argv,
		.envp = environment,
		.cwd = options->cwd,
		.terminal = options->terminal,
		.wants_stdin = options->wants_stdin,
		.shell = options->is_shell,
		.cols = options->cols,
		.rows = options->rows,
	};
	driver_of(process)->start(process->session->sandbox, &spec);
	environment_destroy(environment);
}

struct process *process_start(struct session *session, uint32_t number, const struct process_options *options,
                              struct process_watch *watch)
{
	struct process *process = process_create(session, number, options);
	process_remember_start(process, options);
	if (!process_record_make(process, options)) {
		process_free(process);
		return NULL;
	}
	keep_first_input(process, options);
	LIST_INSERT_HEAD(&process->watches, watch, link);
	ask_driver(process, options);
	return process;
}
