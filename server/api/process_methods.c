#include "process_methods.h"

#include "session_methods.h"
#include "tenant.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_BYTES = 4095 };

static const char *const on_exit_choices[] = {"keep", "kill_tree", NULL};
static const char *const on_disconnect_choices[] = {"keep", "kill", NULL};
static const char *const scopes[] = {"leader", "tree", NULL};

static const struct param terminal_fields[] = {
	{"cols", PARAM_UINT, offsetof(struct start_args, terminal.cols), .required = true, .least = 1,
     .most = LIMIT_TERMINAL_SIDE},
	{"rows", PARAM_UINT, offsetof(struct start_args, terminal.rows), .required = true, .least = 1,
     .most = LIMIT_TERMINAL_SIDE},
	{0},
};

#define START(field) offsetof(struct start_args, field)
#define COMMON_START_ROWS                                                                                              \
	PARAM_SESSION(start_args),                                                                                         \
		{"argv",                                                                                                       \
	     PARAM_STRINGS,                                                                                                \
	     START(argv),                                                                                                  \
	     .required = true,                                                                                             \
	     .least = 1,                                                                                                   \
	     .most = LIMIT_ARGUMENTS,                                                                                      \
	     .summary = "the program, looked up in PATH, and its arguments"},                                              \
		{"env", PARAM_ENV, START(env), .most = LIMIT_ENVIRONMENT, .summary = "added to the session's environment"},    \
		{"context", PARAM_CONTEXT, START(context), .most = CONTEXT_PROCESS_BYTES,                                      \
	     .summary = "what the client notes beside it"},                                                                \
		{"cwd", PARAM_PATH, START(cwd), .most = PATH_BYTES, .summary = "an absolute path inside"},                     \
		{"terminal", PARAM_MAP, .fields = terminal_fields, .has_offset = START(has_terminal),                          \
	     .summary = "a terminal instead of pipes"},                                                                    \
		{"name", PARAM_TEXT, START(name), .most = LIMIT_NAME_BYTES, .summary = "shown in lists"},                      \
		{"wall_ms", PARAM_UINT, START(wall_ms), .most = PARAM_TIME_MOST, .summary = "time until it is ended"},         \
		{"cpu_ms", PARAM_UINT, START(cpu_ms), .most = PARAM_TIME_MOST, .summary = "processor time of its tree"},       \
		{"idle_ms", PARAM_UINT, START(idle_ms), .most = PARAM_TIME_MOST, .summary = "time without output"},            \
		{"output_bytes", PARAM_UINT, START(output_bytes), .most = WIRE_INTEGER_MAX, .summary = "of all its streams"},  \
		{"grace_ms", PARAM_UINT, START(grace_ms), .most = PARAM_GRACE_MOST, .summary = "between SIGTERM and SIGKILL"}, \
	{                                                                                                                  \
		"on_exit", PARAM_CHOICE, START(on_exit), .choices = on_exit_choices,                                           \
												 .summary = "what happens to what the leader leaves behind"            \
	}

const struct param start_params[] = {
	COMMON_START_ROWS,
	{"stdin", PARAM_BOOL, START(wants_stdin), .summary = "whether input will be sent through a pipe"},
	{"on_disconnect", PARAM_CHOICE, START(on_disconnect), .choices = on_disconnect_choices,
     .summary = "what happens when its client has left"},
	{"disconnect_ms", PARAM_UINT, START(disconnect_ms), .most = PARAM_TIME_MOST,
     .summary = "how long it must have left"},
	{0},
};

const struct param run_params[] = {
	COMMON_START_ROWS,
	{"input", PARAM_BYTES, START(input), .most = RUN_BYTES, .summary = "sent as stdin, then its end"},
	{"max_output", PARAM_UINT, START(max_output), .most = RUN_BYTES, .summary = "bytes of each stream in the answer"},
	{0},
};

const struct start_args start_defaults = {
	.cwd = "/work", .name = "", .grace_ms = 2000, .disconnect_ms = 10000, .max_output = RUN_BYTES};

#define PROCESS_ROWS                                                                                 \
	PARAM_SESSION(process_args),                                                                     \
	{                                                                                                \
		"process", PARAM_UINT, offsetof(struct process_args, process), .required = true, .least = 1, \
																	   .most = UINT32_MAX            \
	}

const struct param process_params[] = {PROCESS_ROWS, {0}};
const struct param signal_params[] = {
	PROCESS_ROWS,
	{"signal", PARAM_TEXT, offsetof(struct process_args, signal), .required = true, .most = LIMIT_NAME_BYTES,
     .summary = "a name such as INT"},
	{"scope", PARAM_CHOICE, offsetof(struct process_args, scope), .choices = scopes},
	{0},
};
const struct param kill_params[] = {
	PROCESS_ROWS,
	{"grace_ms", PARAM_UINT, offsetof(struct process_args, grace_ms), .most = PARAM_GRACE_MOST,
     .summary = "between SIGTERM and SIGKILL; 0 = SIGKILL at once"},
	{0},
};

const struct param list_params[] = {
	PARAM_SESSION(list_args),
	{"after", PARAM_UINT, offsetof(struct list_args, after), .most = UINT32_MAX,
     .summary = "only processes above this number"},
	{0},
};

struct process_options start_options(const struct call *call, const struct start_args *args)
{
	struct process_options options = {
		.argv = (const char *const *)args->argv,
		.envp = (const char *const *)args->env,
		.cwd = args->cwd,
		.name = args->name,
		.context = (const char *const *)args->context,
		.by = call->caller->principal.name,
		.terminal = args->has_terminal,
		.wants_stdin = args->wants_stdin,
		.kill_on_exit = args->on_exit == 1,
		.kill_on_disconnect = args->on_disconnect == 1,
		.cols = (uint16_t)args->terminal.cols,
		.rows = (uint16_t)args->terminal.rows,
		.wall_ms = args->wall_ms,
		.cpu_ms = args->cpu_ms,
		.idle_ms = args->idle_ms,
		.output_bytes = args->output_bytes,
		.grace_ms = args->grace_ms,
		.disconnect_ms = args->disconnect_ms,
	};
	memcpy(options.client, call->caller->client, sizeof options.client);
	return options;
}

/* A wait for one moment of a process, on behalf of a call. */
struct process_wait {
	struct process_watch watch;
	struct call *call;
};
_Static_assert(offsetof(struct process_wait, watch) == 0, "the watch is the wait's beginning");

static struct process_wait *wait_create(struct call *call)
{
	struct process_wait *wait = calloc(1, sizeof *wait);
	if (!wait)
		abort();
	wait->call = call;
	return wait;
}

static struct call *wait_finish(struct process_watch *watch)
{
	struct call *call = ((struct process_wait *)watch)->call;
	free(watch);
	return call;
}

static struct process *call_process(struct call *call, const struct process_args *args)
{
	struct session *session = call_session(call, args->session);
	if (!session)
		return NULL;
	struct process *process = session_find_process(session, (uint32_t)args->process);
	if (process && process->state != PROCESS_STARTING)
		return process;
	call_fail(call, CODE_NOT_FOUND, "field", "process", "session `%s` has no process %llu", args->session,
	          (unsigned long long)args->process);
	return NULL;
}

/* --- start --------------------------------------------------------------------------------------------------- */

static void on_started(struct process_watch *watch, struct process *process)
{
	LIST_REMOVE(watch, link);
	struct call *call = wait_finish(watch);
	writer_map(&call->result, 2);
	writer_key_uint(&call->result, "process", process->number);
	writer_key_uint(&call->result, "seq", process->started_seq);
	call_answer(call);
}

static void on_not_started(struct process_watch *watch, const char *code, const char *message)
{
	call_fail_named(wait_finish(watch), code, message);
}

bool can_start(struct call *call, const struct session *session, const struct start_args *args)
{
	bool has_leaves = session->layers.layers[LAYER_CGROUP].on != 0;
	if (args->cpu_ms == 0 || has_leaves)
		return true;
	call_fail(call, CODE_UNSUPPORTED, "field", "cpu_ms",
	          "`cpu_ms` needs the layer `cgroup`, which this host does not give: %s",
	          session->layers.layers[LAYER_CGROUP].detail);
	return false;
}

void call_start_process(struct call *call, struct session *session, const struct process_options *options)
{
	if (!tenant_may_start(call))
		return;
	struct process_wait *wait = wait_create(call);
	wait->watch.started = on_started;
	wait->watch.not_started = on_not_started;
	enum error_code code;
	struct error err;
	if (!session_start(session, options, &wait->watch, &code, &err))
		call_fail(wait_finish(&wait->watch), code, NULL, NULL, "%s", err.message);
}

void handle_process_start(struct call *call, const void *arguments)
{
	const struct start_args *args = arguments;
	struct session *session = call_session(call, args->session);
	if (!session || !can_start(call, session, args))
		return;
	const struct process_options options = start_options(call, args);
	call_start_process(call, session, &options);
}

/* --- list, signal, kill, wait -------------------------------------------------------------------------------- */

static bool is_listed(const struct process *process, uint64_t after)
{
	return process->number > after && process->state != PROCESS_STARTING;
}

void handle_process_list(struct call *call, const void *arguments)
{
	const struct list_args *args = arguments;
	const struct session *session = call_session(call, args->session);
	if (!session)
		return;
	const struct process *process;
	uint32_t count = 0, left;
	TAILQ_FOREACH(process, &session->processes, link)
		count += is_listed(process, args->after);
	left = count < PROCESS_MAPS ? count : PROCESS_MAPS;
	writer_map(&call->result, 2);
	writer_key_bool(&call->result, "more", count > PROCESS_MAPS);
	writer_str(&call->result, "processes");
	writer_array(&call->result, left);
	TAILQ_FOREACH(process, &session->processes, link) {
		if (!is_listed(process, args->after) || left == 0)
			continue;
		struct stream_offset offsets[PROCESS_STREAMS];
		process_offsets(process, offsets);
		process_write(&call->result, process, UINT64_MAX, offsets);
		left--;
	}
	call_answer(call);
}

void handle_process_signal(struct call *call, const void *arguments)
{
	const struct process_args *args = arguments;
	struct process *process = call_process(call, args);
	if (!process)
		return;
	int signo = signal_number(args->signal, strlen(args->signal));
	if (signo == 0) {
		call_fail(call, CODE_INVALID_PARAMS, "field", "signal",
		          "there is no signal `%s`; names are as in signal(7): INT, TERM, …", args->signal);
		return;
	}
	if (process->state == PROCESS_DONE && process->is_empty) {
		call_fail(call, CODE_PROCESS_EXITED, NULL, NULL, "process %u has exited", process->number);
		return;
	}
	if (process_signal(process, signo, args->scope == 1 ? SIGNAL_TREE : SIGNAL_LEADER))
		call_answer_empty(call);
	else
		call_fail(call, CODE_SESSION_ENDED, "session", args->session, "session `%s` is ending", args->session);
}

static void answer_killed(struct call *call, bool already)
{
	writer_map(&call->result, 1);
	writer_key_bool(&call->result, "already_exited", already);
	call_answer(call);
}

static void on_empty(struct process_watch *watch, struct process *process)
{
	(void)process;
	answer_killed(wait_finish(watch), false);
}

static void on_empty_already(struct process_watch *watch, struct process *process)
{
	(void)process;
	answer_killed(wait_finish(watch), true);
}

void handle_process_kill(struct call *call, const void *arguments)
{
	const struct process_args *args = arguments;
	struct process *process = call_process(call, args);
	if (!process)
		return;
	struct process_wait *wait = wait_create(call);
	wait->watch.empty = process->state == PROCESS_DONE ? on_empty_already : on_empty;
	process_kill(process, args->grace_ms, &wait->watch);
}

static void on_done(struct process_watch *watch, struct process *process)
{
	struct call *call = wait_finish(watch);
	process_write_ending(&call->result, process);
	call_answer(call);
}

static void cancel_wait(struct call *call)
{
	struct process_watch *watch = call->state;
	LIST_REMOVE(watch, link);
	free(watch);
	call_fail(call, CODE_CANCELLED, NULL, NULL, "the request was cancelled");
}

void handle_process_wait(struct call *call, const void *arguments)
{
	struct process *process = call_process(call, arguments);
	if (!process)
		return;
	struct process_wait *wait = wait_create(call);
	if (process->state == PROCESS_DONE) {
		on_done(&wait->watch, process);
		return;
	}
	wait->watch.done = on_done;
	call->state = &wait->watch;
	call->cancel = cancel_wait;
	LIST_INSERT_HEAD(&process->watches, &wait->watch, link);
}
