#include "namespaces_state.h"
#include "sandbox/call_name.h"
#include "sandbox/init/wire.h"
#include "server/base/log.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SIGNALS = 64 };

static char *copy(const char *text)
{
	char *result = strdup(text);
	if (!result)
		abort();
	return result;
}

struct process *sandbox_process(const struct sandbox *sandbox, uint32_t number)
{
	struct process *process = sandbox->processes;
	while (process && (process->number != number || process->forgotten))
		process = process->next;
	return process;
}

static void process_free(struct sandbox *sandbox, struct process *process)
{
	struct process **link = &sandbox->processes;
	while (*link != process)
		link = &(*link)->next;
	*link = process->next;
	if (process->start.payload.fd >= 0)
		close(process->start.payload.fd);
	free(process->program);
	free(process->directory);
	free(process);
}

void sandbox_free_processes(struct sandbox *sandbox)
{
	while (sandbox->processes)
		process_free(sandbox, sandbox->processes);
}

static void tell_killed(struct sandbox *sandbox, uint32_t number)
{
	sandbox->events->killed(sandbox->owner, number);
}

/* It is gone for the driver before it is told, for the receiver may do anything then. */
static void tell_start_failed(struct sandbox *sandbox, uint32_t number)
{
	struct process *process = sandbox_process(sandbox, number);
	if (!process)
		return;
	struct start_failure failure = process->failure;
	if (process->kill_wanted)
		namespaces_defer(sandbox, tell_killed, number);
	process_free(sandbox, process);
	sandbox->events->start_failed(sandbox->owner, number, failure.exit_code, failure.code, failure.message);
}

/* A process that was never started leaves nothing but its empty leaf. */
static void fail(struct sandbox *sandbox, struct process *process)
{
	if (process->state == PROCESS_STARTING && sandbox->has_leaves)
		sandbox_ask(sandbox, KEEPER_DROP_LEAF, process->number, NULL);
	process->state = PROCESS_FAILED;
	namespaces_defer(sandbox, tell_start_failed, process->number);
}

void sandbox_fail_start(struct process *process, struct sandbox *sandbox, const char *code, const char *message)
{
	start_failure_of_driver(&process->failure, code, message);
	fail(sandbox, process);
}

void sandbox_refuse_start(struct process *process, struct sandbox *sandbox, const char *code, const char *message)
{
	start_failure_of_driver(&process->failure, code, message);
	tell_start_failed(sandbox, process->number);
}

void sandbox_launch(struct process *process, struct sandbox *sandbox, const int *leaf, size_t count)
{
	process->start.leaf = leaf;
	process->start.leaf_count = count;
	process->state = PROCESS_STARTING;
	bool sent = init_client_start(sandbox->init, &process->start);
	process->start.payload.fd = -1;
	if (!sent)
		sandbox_fail_start(process, sandbox, "unavailable", "the sandbox does not answer");
}

struct process *sandbox_add_process(struct sandbox *sandbox, uint32_t number, enum process_state state)
{
	struct process *process = calloc(1, sizeof *process);
	if (!process)
		abort();
	process->number = number;
	process->state = state;
	process->start.payload.fd = -1;
	process->next = sandbox->processes;
	sandbox->processes = process;
	return process;
}

static struct process *process_new(struct sandbox *sandbox, const struct process_spec *spec)
{
	struct process *process = sandbox_add_process(sandbox, spec->process, PROCESS_WAITING);
	process->program = copy(spec->argv[0] ? spec->argv[0] : "");
	process->directory = copy(spec->cwd);
	process->start = (struct init_start){
		.process = spec->process,
		.flags = (spec->terminal ? INIT_TERMINAL : 0u) | (spec->wants_stdin && !spec->terminal ? INIT_STDIN : 0u) |
	             (spec->shell ? INIT_SHELL : 0u) | (sandbox->has_leaves ? 0u : INIT_SUBREAPER),
		.cols = spec->cols,
		.rows = spec->rows,
		.payload = {.fd = -1},
	};
	return process;
}

static void launch_or_wait(struct sandbox *sandbox, struct process *process)
{
	if (sandbox->is_syncing)
		return;
	if (sandbox->has_leaves)
		leaves_launch(sandbox, process);
	else
		sandbox_launch(process, sandbox, NULL, 0);
}

void sandbox_start(struct sandbox *sandbox, const struct process_spec *spec)
{
	struct error err;
	struct process *process = process_new(sandbox, spec);
	if (spec->process > sandbox->last_started)
		sandbox->last_started = spec->process;
	if (!sandbox->init || sandbox->is_lost) {
		sandbox_fail_start(process, sandbox, "unavailable", "the sandbox is gone");
	} else if (start_payload_create(&process->start.payload, spec, &err) < 0) {
		start_failure_of_init(&process->failure, INIT_PHASE_PAYLOAD, err.errnum, process->program, process->directory);
		fail(sandbox, process);
	} else {
		launch_or_wait(sandbox, process);
	}
	leaves_ask(sandbox);
}

/* Leaves are asked for only where one is waited for: most adopted sandboxes start nothing soon. */
void sandbox_release_processes(struct sandbox *sandbox)
{
	bool is_any_waiting = false;
	struct process *next;
	for (struct process *process = sandbox->processes; process; process = next) {
		next = process->next;
		if (process->state == PROCESS_WAITING) {
			is_any_waiting = true;
			launch_or_wait(sandbox, process);
		} else if (process->state == PROCESS_UNTOLD) {
			if (process->kill_wanted)
				namespaces_defer(sandbox, tell_killed, process->number);
			process_free(sandbox, process);
		}
	}
	if (is_any_waiting)
		leaves_ask(sandbox);
}

/* What is asked of it is held until it has started: before that, init may not know its leader yet. */
static bool is_on_its_way(const struct process *process)
{
	return process->state <= PROCESS_STARTING;
}

/* While an adopted sandbox's processes are still being told, any may be one of them. */
static struct process *process_or_untold(struct sandbox *sandbox, uint32_t number)
{
	struct process *process = sandbox_process(sandbox, number);
	if (process || !sandbox->is_syncing)
		return process;
	return sandbox_add_process(sandbox, number, PROCESS_UNTOLD);
}

void sandbox_signal(struct sandbox *sandbox, uint32_t number, int signo, enum signal_scope scope)
{
	struct process *process = process_or_untold(sandbox, number);
	if (!process || !sandbox->init || signo < 1 || signo > SIGNALS)
		return;
	if (!is_on_its_way(process))
		init_client_signal(sandbox->init, number, signo, scope);
	else if (scope == SIGNAL_BELOW)
		return; /* there is nothing below it yet */
	else if (scope == SIGNAL_TREE)
		process->signals_tree |= UINT64_C(1) << (signo - 1);
	else
		process->signals_leader |= UINT64_C(1) << (signo - 1);
}

void sandbox_close_stdin(struct sandbox *sandbox, uint32_t number)
{
	struct process *process = process_or_untold(sandbox, number);
	if (process && is_on_its_way(process))
		process->close_stdin = true;
	else if (process && sandbox->init)
		init_client_close_stdin(sandbox->init, number);
}

/* KILL's answer may come for a process that was forgotten meanwhile. */
static void kill_is_done(struct sandbox *sandbox, uint32_t number)
{
	struct process *process = sandbox->processes;
	while (process && !(process->number == number && process->kill_open))
		process = process->next;
	if (!process)
		return;
	process->kill_open = false;
	if (process->forgotten)
		process_free(sandbox, process);
	sandbox->events->killed(sandbox->owner, number);
}

static void kill_tree(struct sandbox *sandbox, uint32_t number)
{
	if (!sandbox->init || !init_client_kill_tree(sandbox->init, number))
		namespaces_defer(sandbox, kill_is_done, number); /* init is gone, and all it ran with it */
}

/* Where the keeper cannot kill the leaf, init goes through its processes. */
static void kill_answered(void *owner, uint32_t number, const struct keeper_answer *answer)
{
	struct sandbox *sandbox = owner;
	if (sandbox->is_ending)
		return;
	if (answer->reply->status == KEEPER_OK) {
		kill_is_done(sandbox, number);
		return;
	}
	log_write(LOG_ERROR, sandbox->session, "the keeper cannot kill a process",
	          LOG_FIELDS(log_number("process", number), log_text("error", answer->reply->message)));
	kill_tree(sandbox, number);
}

static void send_kill(struct sandbox *sandbox, struct process *process)
{
	if (process->kill_open)
		return;
	process->kill_open = true;
	if (!sandbox->has_leaves || !sandbox_ask(sandbox, KEEPER_KILL, process->number, kill_answered))
		kill_tree(sandbox, process->number);
}

/* Before it has started its leaf is empty: killing that would let the process slip in afterwards. */
void sandbox_kill(struct sandbox *sandbox, uint32_t number)
{
	struct process *process = process_or_untold(sandbox, number);
	if (!process)
		namespaces_defer(sandbox, tell_killed, number);
	else if (process->state == PROCESS_STARTED || process->state == PROCESS_EXITED)
		send_kill(sandbox, process);
	else
		process->kill_wanted = true;
}

static uint64_t microseconds(const struct timeval *time)
{
	return (uint64_t)time->tv_sec * 1000000 + (uint64_t)time->tv_usec;
}

/* What no cgroup counts is taken from what init's wait4(2) told, once it has. */
static void fill_usage(struct process_usage *usage, const struct process *process)
{
	if (!process || process->state != PROCESS_EXITED)
		return;
	if (usage->user_us == UINT64_MAX || usage->system_us == UINT64_MAX) {
		usage->user_us = microseconds(&process->usage.ru_utime);
		usage->system_us = microseconds(&process->usage.ru_stime);
	}
	if (usage->memory_peak == UINT64_MAX)
		usage->memory_peak = (uint64_t)process->usage.ru_maxrss * 1024;
}

static const struct process_usage unknown_usage = {UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX};

static void tell_usage(struct sandbox *sandbox, uint32_t number)
{
	struct process_usage usage = unknown_usage;
	fill_usage(&usage, sandbox_process(sandbox, number));
	sandbox->events->usage(sandbox->owner, number, &usage);
}

static void usage_answered(void *owner, uint32_t number, const struct keeper_answer *answer)
{
	struct sandbox *sandbox = owner;
	if (sandbox->is_ending)
		return;
	struct process_usage usage = answer->reply->status == KEEPER_OK ? answer->reply->usage : unknown_usage;
	fill_usage(&usage, sandbox_process(sandbox, number));
	sandbox->events->usage(sandbox->owner, number, &usage);
}

void sandbox_ask_usage(struct sandbox *sandbox, uint32_t number)
{
	struct process *process = sandbox_process(sandbox, number);
	bool has_leaf = process && sandbox->has_leaves && process->state >= PROCESS_STARTING &&
	                process->state != PROCESS_FAILED;
	if (!has_leaf || !sandbox_ask(sandbox, KEEPER_USAGE, number, usage_answered))
		namespaces_defer(sandbox, tell_usage, number);
}

void sandbox_forget(struct sandbox *sandbox, uint32_t number)
{
	struct process *process = sandbox_process(sandbox, number);
	if (!process || process->state == PROCESS_UNTOLD)
		return;
	if (sandbox->init)
		init_client_forget(sandbox->init, number);
	if (sandbox->has_leaves && process->state != PROCESS_WAITING)
		sandbox_ask(sandbox, KEEPER_DROP_LEAF, number, NULL);
	process->forgotten = true;
	if (!process->kill_open)
		process_free(sandbox, process);
}

static void send_held(struct sandbox *sandbox, struct process *process)
{
	for (int signo = 1; signo <= SIGNALS; signo++) {
		if (process->signals_leader & UINT64_C(1) << (signo - 1))
			init_client_signal(sandbox->init, process->number, signo, SIGNAL_LEADER);
		if (process->signals_tree & UINT64_C(1) << (signo - 1))
			init_client_signal(sandbox->init, process->number, signo, SIGNAL_TREE);
	}
	if (process->close_stdin)
		init_client_close_stdin(sandbox->init, process->number);
}

static void close_streams(const struct process_streams *streams)
{
	const int fds[] = {streams->stdin_fd, streams->stdout_fd,  streams->stderr_fd,
	                   streams->tty_fd,   streams->command_fd, streams->status_fd};
	for (size_t i = 0; i < sizeof fds / sizeof fds[0]; i++)
		if (fds[i] >= 0)
			close(fds[i]);
}

static void on_started(void *owner, uint32_t number, const struct process_streams *streams)
{
	struct sandbox *sandbox = owner;
	struct process *process = sandbox->is_syncing ? adoption_meet(sandbox, number) : sandbox_process(sandbox, number);
	if (!process || process->state != PROCESS_STARTING) {
		close_streams(streams);
		return;
	}
	process->state = PROCESS_STARTED;
	send_held(sandbox, process);
	if (process->kill_wanted)
		send_kill(sandbox, process);
	sandbox->events->started(sandbox->owner, number, streams);
}

static void on_start_failed(void *owner, uint32_t number, uint32_t phase, int errnum)
{
	struct sandbox *sandbox = owner;
	struct process *process = sandbox_process(sandbox, number);
	if (!process || process->state != PROCESS_STARTING)
		return;
	start_failure_of_init(&process->failure, phase, errnum, process->program, process->directory);
	fail(sandbox, process);
}

static void on_exited(void *owner, uint32_t number, int wait_status, const struct rusage *usage)
{
	struct sandbox *sandbox = owner;
	struct process *process = sandbox_process(sandbox, number);
	if (!process || process->state != PROCESS_STARTED)
		return;
	process->state = PROCESS_EXITED;
	process->usage = *usage;
	sandbox->events->exited(sandbox->owner, number, wait_status, usage);
}

static void on_denied(void *owner, uint32_t number, int call, uint32_t thread, uint64_t count)
{
	struct sandbox *sandbox = owner;
	char name[CALL_NAME_BYTES];
	call_name(call, name);
	sandbox->events->denied(sandbox->owner, number, name, thread, count);
}

static void on_killed(void *owner, uint32_t number)
{
	kill_is_done(owner, number);
}

/* One that is being killed is told when that is answered. */
static void on_empty(void *owner, uint32_t number)
{
	struct sandbox *sandbox = owner;
	struct process *process = sandbox_process(sandbox, number);
	if (process && process->state == PROCESS_EXITED && !process->kill_open)
		sandbox->events->killed(sandbox->owner, number);
}

static void on_kill_failed(void *owner, uint32_t number)
{
	(void)number;
	sandbox_lose(owner, "a process killed its own supervisor: what it left can only be ended with the sandbox");
}

/* With init everything in the sandbox is dead. The keeper still answers for what it was asked. */
void sandbox_lose_processes(struct sandbox *sandbox)
{
	for (struct process *process = sandbox->processes; process; process = process->next) {
		if (process->kill_open && !sandbox->has_leaves)
			namespaces_defer(sandbox, kill_is_done, process->number);
		else if (process->kill_wanted && !process->kill_open)
			namespaces_defer(sandbox, tell_killed, process->number);
	}
}

static void on_gone(void *owner)
{
	sandbox_lose(owner, "the sandbox's init is gone");
}

const struct init_client_events sandbox_init_events = {
	.started = on_started,
	.start_failed = on_start_failed,
	.exited = on_exited,
	.killed = on_killed,
	.empty = on_empty,
	.denied = on_denied,
	.kill_failed = on_kill_failed,
	.synced = adoption_synced,
	.gone = on_gone,
};
