/* process.run: a command whose output is collected into one answer. */
#include "collected.h"
#include "process_methods.h"
#include "session_methods.h"
#include "tenant.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct run {
	struct process_watch watch;
	struct call *call;
	struct session *session;
	struct process *process; /* NULL until it was started */
	struct writer streams[STREAM_TTY + 1];
	uint64_t most[STREAM_TTY + 1]; /* bytes of each */
	bool is_terminal, is_truncated, is_cancelled;
};
_Static_assert(offsetof(struct run, watch) == 0, "the watch is the run's beginning");

static struct call *run_finish(struct run *run)
{
	struct call *call = run->call;
	for (int stream = STREAM_STDOUT; stream <= STREAM_TTY; stream++)
		collected_finish(run->session, &run->streams[stream]);
	free(run);
	return call;
}

static void on_not_started(struct process_watch *watch, const char *code, const char *message)
{
	call_fail_named(run_finish((struct run *)watch), code, message);
}

static void on_output(struct process_watch *watch, enum stream stream, const uint8_t *bytes, size_t length)
{
	struct run *run = (struct run *)watch;
	run->is_truncated |= !collected_append(run->session, &run->streams[stream], &run->most[stream], bytes, length);
}

static void cancel_process(struct run *run)
{
	process_end(run->process, REASON_CANCELLED, "cancel", 0);
}

static void on_started(struct process_watch *watch, struct process *process)
{
	struct run *run = (struct run *)watch;
	run->process = process;
	watch->started = NULL;
	if (run->is_cancelled)
		cancel_process(run);
}

static void write_stream(struct writer *writer, const struct run *run, enum stream stream)
{
	writer_str(writer, stream_name(stream));
	if ((stream == STREAM_TTY) == run->is_terminal)
		writer_bin(writer, run->streams[stream].data, run->streams[stream].length);
	else
		writer_nil(writer);
}

static void on_done(struct process_watch *watch, struct process *process)
{
	struct run *run = (struct run *)watch;
	struct writer *result = &run->call->result;
	if (run->is_cancelled) {
		call_fail(run_finish(run), CODE_CANCELLED, NULL, NULL, "the request was cancelled, and process %u ended",
		          process->number);
		return;
	}
	writer_map(result, 6);
	writer_key_uint(result, "process", process->number);
	writer_str(result, "exited");
	process_write_ending(result, process);
	for (enum stream stream = STREAM_STDOUT; stream <= STREAM_TTY; stream++)
		write_stream(result, run, stream);
	writer_key_bool(result, "truncated", run->is_truncated);
	call_answer(run_finish(run));
}

static void cancel_run(struct call *call)
{
	struct run *run = call->state;
	if (run->is_cancelled)
		return;
	run->is_cancelled = true;
	if (run->process)
		cancel_process(run);
}

static struct run *run_create(struct call *call, struct session *session, const struct start_args *args)
{
	struct run *run = calloc(1, sizeof *run);
	if (!run)
		abort();
	run->call = call;
	run->session = session;
	run->is_terminal = args->has_terminal;
	run->watch.started = on_started;
	run->watch.not_started = on_not_started;
	run->watch.output = on_output;
	run->watch.done = on_done;
	for (int stream = STREAM_STDOUT; stream <= STREAM_TTY; stream++) {
		writer_init(&run->streams[stream], RUN_BYTES);
		run->most[stream] = args->max_output;
	}
	return run;
}

void handle_process_run(struct call *call, const void *arguments)
{
	const struct start_args *args = arguments;
	struct session *session = call_session(call, args->session);
	if (!session || !can_start(call, session, args) || !tenant_may_start(call))
		return;
	struct process_options options = start_options(call, args);
	options.is_run = true;
	options.wants_stdin = args->input.data != NULL;
	options.input = (const uint8_t *)args->input.data;
	options.input_length = args->input.length;
	struct run *run = run_create(call, session, args);
	enum error_code code;
	struct error err;
	if (!session_start(session, &options, &run->watch, &code, &err)) {
		call_fail(run_finish(run), code, NULL, NULL, "%s", err.message);
		return;
	}
	call->state = run;
	call->cancel = cancel_run;
}
