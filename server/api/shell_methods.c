#include "shell_methods.h"

#include "collected.h"
#include "process_methods.h"
#include "protocol/check.h"
#include "server/session/shell.h"
#include "session_methods.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_BYTES = 4095 };

#define START(field) offsetof(struct shell_start_args, field)
const struct param shell_start_params[] = {
	PARAM_SESSION(shell_start_args),
	{"name", PARAM_TEXT, START(name), .most = LIMIT_NAME_BYTES, .summary = "shown in lists"},
	{"cwd", PARAM_PATH, START(cwd), .most = PATH_BYTES, .summary = "an absolute path inside"},
	{"env", PARAM_ENV, START(env), .most = LIMIT_ENVIRONMENT, .summary = "added to the session's environment"},
	{0},
};
const struct shell_start_args shell_start_defaults = {.cwd = "/work", .name = ""};

#define RUN(field) offsetof(struct shell_run_args, field)
const struct param shell_run_params[] = {
	PARAM_SESSION(shell_run_args),
	{"process", PARAM_UINT, RUN(process), .required = true, .least = 1, .most = UINT32_MAX, .summary = "the shell"},
	{"command", PARAM_TEXT, RUN(command), .required = true, .most = SHELL_COMMAND_BYTES,
     .summary = "one or more lines, as in a script"},
	{"input", PARAM_BYTES, RUN(input), .most = RUN_BYTES, .summary = "its stdin, else /dev/null"},
	{"wall_ms", PARAM_UINT, RUN(wall_ms), .most = PARAM_TIME_MOST, .summary = "time until it is interrupted"},
	{"grace_ms", PARAM_UINT, RUN(grace_ms), .most = PARAM_GRACE_MOST, .summary = "between SIGTERM and SIGKILL"},
	{"max_output", PARAM_UINT, RUN(max_output), .most = RUN_BYTES, .summary = "bytes of each stream in the answer"},
	{"stream", PARAM_BOOL, RUN(stream), .summary = "its output comes as OUTPUT alone, not in the answer"},
	{0},
};
const struct shell_run_args shell_run_defaults = {.grace_ms = 2000, .max_output = RUN_BYTES};

void handle_shell_start(struct call *call, const void *arguments)
{
	const struct shell_start_args *args = arguments;
	struct session *session = call_session(call, args->session);
	if (!session)
		return;
	struct process_options options = {
		.argv = shell_argv,
		.envp = (const char *const *)args->env,
		.cwd = args->cwd,
		.name = args->name,
		.by = call->caller->principal.name,
		.is_shell = true,
		.grace_ms = shell_run_defaults.grace_ms,
	};
	memcpy(options.client, call->caller->client, sizeof options.client);
	call_start_process(call, session, &options);
}

/* --- shell.run --------------------------------------------------------------------------------------------------- */

struct run {
	struct shell_run run;
	struct call *call;
	struct session *session;
	struct shell *shell;
	char *command;
	uint8_t *input;
	struct writer streams[SHELL_STREAMS]; /* stdout, stderr */
	uint64_t most[SHELL_STREAMS];         /* bytes of each */
	bool is_stream, is_truncated, is_cancelled;
};
_Static_assert(offsetof(struct run, run) == 0, "the shell's part is the run's beginning");

static const char *const stream_names[SHELL_STREAMS] = {"stdout", "stderr"};

static struct call *run_finish(struct run *run)
{
	struct call *call = run->call;
	for (size_t i = 0; i < SHELL_STREAMS; i++)
		collected_finish(run->session, &run->streams[i]);
	collected_give(run->session, run->run.text.command_length + run->run.text.input_length);
	free(run->command);
	free(run->input);
	free(run);
	return call;
}

static void on_output(struct shell_run *shell_run, enum stream stream, const uint8_t *bytes, size_t length)
{
	struct run *run = (struct run *)shell_run;
	size_t i = stream == STREAM_STDERR;
	if (!run->is_stream)
		run->is_truncated |= !collected_append(run->session, &run->streams[i], &run->most[i], bytes, length);
}

/* What a directory is called need not be text. */
static void write_cwd(struct writer *writer, const struct shell_result *result)
{
	writer_str(writer, "cwd");
	if (!result->cwd)
		writer_nil(writer);
	else if (check_utf8((const uint8_t *)result->cwd, result->cwd_length))
		writer_strn(writer, result->cwd, result->cwd_length);
	else
		writer_bin(writer, result->cwd, result->cwd_length);
}

static void write_exit_code(struct writer *writer, int exit_code)
{
	if (exit_code < 0)
		writer_key_nil(writer, "exit_code");
	else
		writer_key_uint(writer, "exit_code", (uint64_t)exit_code);
}

static void write_streams(struct writer *writer, const struct run *run, const struct shell_result *result)
{
	for (size_t i = 0; i < SHELL_STREAMS; i++) {
		writer_str(writer, stream_names[i]);
		if (run->is_stream)
			writer_nil(writer);
		else
			writer_bin(writer, run->streams[i].data, run->streams[i].length);
	}
	writer_str(writer, "offsets");
	writer_map(writer, SHELL_STREAMS);
	for (size_t i = 0; i < SHELL_STREAMS; i++) {
		writer_str(writer, stream_names[i]);
		writer_array(writer, 2);
		writer_uint(writer, result->from[i]);
		writer_uint(writer, result->to[i]);
	}
}

static void on_done(struct shell_run *shell_run, const struct shell_result *result)
{
	struct run *run = (struct run *)shell_run;
	if (run->is_cancelled) {
		const char *state = shell_state_name(result->state);
		call_fail(run_finish(run), CODE_CANCELLED, "state", state, "the request was cancelled: %s",
		          result->cwd ? "the command was interrupted, and the shell goes on"
		                      : "the shell ended with the command");
		return;
	}
	struct writer *writer = &run->call->result;
	writer_map(writer, 8);
	writer_key_str(writer, "state", shell_state_name(result->state));
	write_exit_code(writer, result->exit_code);
	write_cwd(writer, result);
	writer_key_str(writer, "message", result->message);
	write_streams(writer, run, result);
	writer_key_bool(writer, "truncated", run->is_truncated);
	call_answer(run_finish(run));
}

static void on_refused(struct shell_run *shell_run)
{
	call_fail(run_finish((struct run *)shell_run), CODE_PROCESS_EXITED, NULL, NULL,
	          "the shell ended before the command was begun");
}

static void cancel_run(struct call *call)
{
	struct run *run = call->state;
	if (run->is_cancelled)
		return;
	run->is_cancelled = true;
	if (shell_cancel(run->shell, &run->run))
		call_fail(run_finish(run), CODE_CANCELLED, NULL, NULL,
		          "the request was cancelled before the command was begun");
}

static void *copy(const void *bytes, size_t length)
{
	void *result = malloc(length + 1);
	if (!result)
		abort();
	memcpy(result, bytes, length);
	return result;
}

/* NULL: the session keeps as much as it may. */
static struct run *run_create(struct call *call, struct session *session, const struct shell_run_args *args)
{
	if (!collected_take(session, strlen(args->command) + args->input.length))
		return NULL;
	struct run *run = calloc(1, sizeof *run);
	if (!run)
		abort();
	run->call = call;
	run->session = session;
	run->is_stream = args->stream;
	run->command = copy(args->command, strlen(args->command));
	run->input = args->input.data ? copy(args->input.data, args->input.length) : NULL;
	run->run = (struct shell_run){
		.text = {.command = run->command,
	             .command_length = strlen(args->command),
	             .input = run->input,
	             .input_length = args->input.length},
		.wall_ms = args->wall_ms,
		.grace_ms = args->grace_ms,
		.output = on_output,
		.done = on_done,
		.refused = on_refused,
	};
	for (size_t i = 0; i < SHELL_STREAMS; i++) {
		writer_init(&run->streams[i], RUN_BYTES);
		run->most[i] = args->max_output;
	}
	return run;
}

/* The shell that is meant; or NULL, and the call has failed. */
static struct shell *call_shell(struct call *call, struct session *session, const struct shell_run_args *args)
{
	const struct process *process = session_find_process(session, (uint32_t)args->process);
	if (!process || process->state == PROCESS_STARTING)
		call_fail(call, CODE_NOT_FOUND, "field", "process", "session `%s` has no process %u", args->session,
		          (unsigned)args->process);
	else if (!process->is_shell)
		call_fail(call, CODE_CONFLICT, "field", "process", "process %u is no shell: shell.start makes one",
		          process->number);
	else if (!process->shell)
		call_fail(call, CODE_PROCESS_EXITED, NULL, NULL, "the shell %u has exited", process->number);
	else
		return process->shell;
	return NULL;
}

void handle_shell_run(struct call *call, const void *arguments)
{
	const struct shell_run_args *args = arguments;
	struct session *session = call_session(call, args->session);
	struct shell *shell = session ? call_shell(call, session, args) : NULL;
	if (!shell)
		return;
	struct run *run = run_create(call, session, args);
	if (!run) {
		call_fail(call, CODE_LIMIT, NULL, NULL,
		          "commands that wait, and output that is collected, have %d bytes in this session already",
		          COLLECTED_MOST);
		return;
	}
	run->shell = shell;
	call->state = run;
	call->cancel = cancel_run;
	if (!shell_take(shell, &run->run))
		call_fail(run_finish(run), CODE_LIMIT, NULL, NULL, "%d commands wait for this shell already", SHELL_QUEUE);
}
