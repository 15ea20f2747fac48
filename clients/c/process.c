#include "decode.h"
#include "failure.h"
#include "params.h"
#include "sandbar.h"
#include "protocol/check.h"
#include "protocol/wire.h"
#include "protocol/writer.h"

#include <stdlib.h>
#include <string.h>

/* A program's arguments are any bytes: text where they are UTF-8, else bin. */
static void write_arguments(struct writer *params, const char *const *argv)
{
	uint32_t count = 0;

	while (argv[count])
		count++;
	writer_str(params, "argv");
	writer_array(params, count);
	for (; *argv; argv++) {
		size_t length = strlen(*argv);
		if (check_utf8((const uint8_t *)*argv, length))
			writer_strn(params, *argv, length);
		else
			writer_bin(params, *argv, length);
	}
}

/* Optional numbers of process.start: written when they are not 0. */
static const struct number_row {
	const char *key;
	size_t offset;
} NUMBERS[] = {
	{"wall_ms", offsetof(struct sandbar_process, wall_ms)},
	{"cpu_ms", offsetof(struct sandbar_process, cpu_ms)},
	{"idle_ms", offsetof(struct sandbar_process, idle_ms)},
	{"output_bytes", offsetof(struct sandbar_process, output_bytes)},
	{"disconnect_ms", offsetof(struct sandbar_process, disconnect_ms)},
};

enum { NUMBER_ROWS = sizeof(NUMBERS) / sizeof(NUMBERS[0]) };

static uint32_t write_numbers(struct writer *params, const struct sandbar_process *process)
{
	uint32_t count = 0;

	for (size_t i = 0; i < NUMBER_ROWS; i++) {
		uint64_t value;
		memcpy(&value, (const char *)process + NUMBERS[i].offset, sizeof(value));
		if (value == 0)
			continue;
		count++;
		if (params)
			writer_key_uint(params, NUMBERS[i].key, value);
	}
	return count;
}

static void write_terminal(struct writer *params, const struct sandbar_process *process)
{
	writer_str(params, "terminal");
	writer_map(params, 2);
	writer_key_uint(params, "cols", process->cols);
	writer_key_uint(params, "rows", process->rows);
}

static void write_process(struct writer *params, const char *session, const struct sandbar_process *process)
{
	bool has_terminal = process->cols && process->rows;

	writer_map(params, 3 + write_numbers(NULL, process) + (process->env ? 1U : 0) + (process->cwd ? 1U : 0) +
	                       (process->context ? 1U : 0) + (process->name ? 1U : 0) + has_terminal +
	                       process->kill_tree_on_exit + process->kill_on_disconnect +
	                       (process->grace_ms >= 0 ? 1U : 0));
	writer_key_str(params, "session", session);
	write_arguments(params, process->argv);
	writer_key_bool(params, "stdin", process->with_stdin);
	write_numbers(params, process);
	if (process->env)
		params_pairs(params, "env", process->env);
	if (process->context)
		params_pairs(params, "context", process->context);
	if (process->cwd)
		writer_key_str(params, "cwd", process->cwd);
	if (process->name)
		writer_key_str(params, "name", process->name);
	if (has_terminal)
		write_terminal(params, process);
	if (process->kill_tree_on_exit)
		writer_key_str(params, "on_exit", "kill_tree");
	if (process->kill_on_disconnect)
		writer_key_str(params, "on_disconnect", "kill");
	if (process->grace_ms >= 0)
		writer_key_uint(params, "grace_ms", (uint64_t)process->grace_ms);
}

static uint32_t request_and_finish(struct sandbar *sandbar, const char *method, struct writer *params,
                                   sandbar_answer answer, void *user, struct sandbar_error *error)
{
	uint32_t id = 0;

	if (params->failed)
		failure_set(error, "too_large", "%s: the parameters are over 4 MiB", method);
	else
		id = sandbar_request(sandbar, method, params->data, params->length, answer, user, error);
	writer_finish(params);
	return id;
}

uint32_t sandbar_process_start_request(struct sandbar *sandbar, const char *session,
                                       const struct sandbar_process *process, sandbar_answer answer, void *user,
                                       struct sandbar_error *error)
{
	struct writer params;

	writer_init(&params, LIMIT_MESSAGE_BYTES);
	write_process(&params, session, process);
	return request_and_finish(sandbar, "process.start", &params, answer, user, error);
}

struct start_answer {
	uint64_t process, seq;
};

static bool read_start_process(struct reader *reader, void *into)
{
	return reader_uint(reader, &((struct start_answer *)into)->process);
}

static bool read_start_seq(struct reader *reader, void *into)
{
	return reader_uint(reader, &((struct start_answer *)into)->seq);
}

int sandbar_process_start(struct sandbar *sandbar, const char *session, const struct sandbar_process *process,
                          uint32_t *number, uint64_t *seq, struct sandbar_error *error)
{
	static const struct decode_key KEYS[] = {
		{"process", read_start_process},
		{"seq", read_start_seq},
		{NULL, NULL},
	};
	struct start_answer answer = {0};
	struct writer params;
	void *result = NULL;
	size_t length = 0;

	writer_init(&params, LIMIT_MESSAGE_BYTES);
	write_process(&params, session, process);
	int status = params.failed
	                 ? failure_set(error, "too_large", "process.start: the parameters are over 4 MiB")
	                 : sandbar_call(sandbar, "process.start", params.data, params.length, &result, &length, error);
	writer_finish(&params);
	if (status < 0)
		return -1;
	struct reader reader = reader_over(result, length);
	decode_map(&reader, KEYS, &answer);
	free(result);
	if (answer.process == 0)
		return failure_set(error, "protocol", "the answer to process.start names no process");
	*number = (uint32_t)answer.process;
	if (seq)
		*seq = answer.seq;
	return 0;
}

static void begin_process_params(struct writer *params, uint32_t count, const char *session, uint32_t process)
{
	writer_init(params, LIMIT_MESSAGE_BYTES);
	writer_map(params, count);
	writer_key_str(params, "session", session);
	writer_key_uint(params, "process", process);
}

uint32_t sandbar_process_signal(struct sandbar *sandbar, const char *session, uint32_t process, const char *signal,
                                bool tree, sandbar_answer answer, void *user, struct sandbar_error *error)
{
	struct writer params;

	begin_process_params(&params, 4, session, process);
	writer_key_str(&params, "signal", signal);
	writer_key_str(&params, "scope", tree ? "tree" : "leader");
	return request_and_finish(sandbar, "process.signal", &params, answer, user, error);
}

uint32_t sandbar_process_kill(struct sandbar *sandbar, const char *session, uint32_t process, uint64_t grace_ms,
                              sandbar_answer answer, void *user, struct sandbar_error *error)
{
	struct writer params;

	begin_process_params(&params, 3, session, process);
	writer_key_uint(&params, "grace_ms", grace_ms);
	return request_and_finish(sandbar, "process.kill", &params, answer, user, error);
}

int sandbar_process_wait(struct sandbar *sandbar, const char *session, uint32_t process, struct sandbar_ending *ending,
                         struct sandbar_error *error)
{
	struct writer params;
	void *result = NULL;
	size_t length = 0;

	begin_process_params(&params, 2, session, process);
	int status = sandbar_call(sandbar, "process.wait", params.data, params.length, &result, &length, error);
	writer_finish(&params);
	if (status < 0)
		return -1;
	struct reader reader = reader_over(result, length);
	bool decoded = decode_ending(&reader, ending);
	free(result);
	return decoded ? 0 : failure_set(error, "protocol", "the answer to process.wait is not an ending");
}
