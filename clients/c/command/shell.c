/* `shell`: a command in a shell of a session, which keeps its state for the next. */
#include "commands.h"
#include "context.h"
#include "execution.h"
#include "json.h"
#include "outlet.h"
#include "protocol/wire.h"
#include "protocol/writer.h"
#include "query.h"
#include "signals.h"
#include "terminal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { COMMAND_BYTES = 3 * 1024 * 1024, WINDOW = 1024 * 1024, INTERRUPTS_TO_LEAVE = 2 };

struct shell {
	struct context context;
	const struct options *options;
	char session[SANDBAR_SESSION_BYTES];
	uint32_t process, request;
	struct sandbar_channel *channel;
	struct outlet outlet;
	bool is_answered, has_failed, is_closed;
	struct sandbar_error error;
	char state[16], message[256];
	int exit_code; /* -1: it cannot be known */
	uint64_t seen[SANDBAR_STREAMS], end[SANDBAR_STREAMS];
	unsigned interrupts;
	int write_errno;
};

/* ---- Which shell ---- */

/* The newest that runs; 0 if there is none. */
static int find(struct shell *shell, struct sandbar_error *error)
{
	uint64_t after = 0;

	for (bool has_more = true; has_more;) {
		struct writer params;
		struct query query;
		writer_init(&params, LIMIT_MESSAGE_BYTES);
		writer_map(&params, 2);
		writer_key_str(&params, "session", shell->session);
		writer_key_uint(&params, "after", after);
		int status = query_begin(&query, shell->context.sandbar, "process.list", params.data, params.length, error);
		writer_finish(&params);
		if (status < 0)
			return -1;
		struct reader rows = query_field(&query.result, "processes"), row;
		while (query_next(&rows, &row)) {
			after = query_number(&row, "process");
			if (query_truth(&row, "shell") && query_is_nil(&row, "exited"))
				shell->process = (uint32_t)after;
		}
		has_more = query_truth(&query.result, "more");
		query_finish(&query);
	}
	return 0;
}

static int start(struct shell *shell, struct sandbar_error *error)
{
	struct writer params;
	struct query query;

	writer_init(&params, LIMIT_MESSAGE_BYTES);
	writer_map(&params, 2);
	writer_key_str(&params, "session", shell->session);
	writer_key_str(&params, "name", shell->options->name ? shell->options->name : "");
	int status = query_begin(&query, shell->context.sandbar, "shell.start", params.data, params.length, error);
	writer_finish(&params);
	if (status < 0)
		return -1;
	shell->process = (uint32_t)query_number(&query.result, "process");
	query_finish(&query);
	return 0;
}

static int choose(struct shell *shell, struct sandbar_error *error)
{
	shell->process = (uint32_t)shell->options->process;
	if (shell->process == 0 && !shell->options->is_new && find(shell, error) < 0)
		return -1;
	return shell->process == 0 ? start(shell, error) : 0;
}

/* ---- What is run ---- */

/* The words with a space between them, as ssh(1) does. The caller frees it. */
static char *join(const char *const *words)
{
	char *text;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	if (!out)
		abort();
	for (size_t i = 0; words[i]; i++)
		fprintf(out, "%s%s", i ? " " : "", words[i]);
	fclose(out);
	return text;
}

/* All of stdin; one byte more than is allowed is enough for the server to refuse it. */
static char *read_stdin(void)
{
	char *text = malloc(COMMAND_BYTES + 2);
	size_t length = 0;
	ssize_t got = 1;

	if (!text)
		abort();
	while (got != 0 && length <= COMMAND_BYTES) {
		got = read(STDIN_FILENO, text + length, COMMAND_BYTES + 1 - length);
		if (got < 0 && errno != EINTR)
			break;
		length += got > 0 ? (size_t)got : 0;
	}
	text[length] = '\0';
	return text;
}

static void write_params(struct writer *params, const struct shell *shell, const char *command)
{
	const struct options *options = shell->options;

	writer_init(params, LIMIT_MESSAGE_BYTES);
	writer_map(params, 4u + (options->wall_ms > 0) + options->has_grace);
	writer_key_str(params, "session", shell->session);
	writer_key_uint(params, "process", shell->process);
	writer_key_str(params, "command", command);
	writer_key_bool(params, "stream", !options->json);
	if (options->wall_ms > 0)
		writer_key_uint(params, "wall_ms", options->wall_ms);
	if (options->has_grace)
		writer_key_uint(params, "grace_ms", options->grace_ms);
}

static void copy_text(char *to, size_t size, const struct reader *map, const char *key)
{
	struct view text = query_text(map, key);

	snprintf(to, size, "%.*s", (int)text.length, text.length ? text.data : "");
}

static void read_ends(struct shell *shell, const struct reader *result)
{
	static const char *const NAMES[SANDBAR_STREAMS] = {[SANDBAR_STDOUT] = "stdout", [SANDBAR_STDERR] = "stderr"};
	struct reader offsets = query_field(result, "offsets");

	for (int stream = SANDBAR_STDOUT; stream <= SANDBAR_STDERR; stream++) {
		struct reader pair = query_field(&offsets, NAMES[stream]), offset;
		uint64_t range[2] = {0, 0}; /* from, to: an empty one was not sent to us */
		for (size_t i = 0; query_next(&pair, &offset) && i < 2; i++)
			reader_uint(&offset, &range[i]);
		shell->end[stream] = range[0] < range[1] ? range[1] : 0;
	}
}

static void on_answer(struct sandbar *sandbar, const struct sandbar_error *error, const void *bytes, size_t length,
                      void *user)
{
	struct shell *shell = user;

	(void)sandbar;
	shell->is_answered = true;
	shell->has_failed = error != NULL;
	if (error) {
		shell->error = *error;
		return;
	}
	struct reader result = reader_over(bytes, length), copy = result;
	if (shell->options->json) {
		json_value(stdout, &copy);
		putchar('\n');
	}
	copy_text(shell->state, sizeof(shell->state), &result, "state");
	copy_text(shell->message, sizeof(shell->message), &result, "message");
	shell->exit_code = query_is_nil(&result, "exit_code") ? -1 : (int)query_number(&result, "exit_code");
	read_ends(shell, &result);
}

/* ---- What it writes ---- */

static void on_output(struct sandbar_channel *channel, const struct sandbar_output *output, void *user)
{
	struct shell *shell = user;

	(void)channel;
	if (output->process != shell->process)
		return;
	shell->seen[output->stream] = output->offset + output->length;
	outlet_output(&shell->outlet, output);
}

static void on_gap(struct sandbar_channel *channel, uint64_t from, uint64_t to, void *user)
{
	struct shell *shell = user;

	(void)channel;
	context_say("events %llu to %llu were lost: output is missing here", (unsigned long long)from,
	            (unsigned long long)to);
	shell->is_closed = true;
}

static void on_closed(struct sandbar_channel *channel, const struct sandbar_error *why, void *user)
{
	struct shell *shell = user;

	(void)channel, (void)why;
	shell->is_closed = true;
	shell->channel = shell->outlet.channel = NULL;
}

static const struct sandbar_events EVENTS = {.output = on_output, .gap = on_gap, .closed = on_closed};

static void on_write_failed(int errnum, void *user)
{
	((struct shell *)user)->write_errno = errnum;
}

static void on_signal(int number, void *user)
{
	struct shell *shell = user;

	(void)number;
	sandbar_cancel(shell->context.sandbar, shell->request);
	shell->interrupts++;
}

static bool is_over(const struct shell *shell)
{
	if (shell->interrupts >= INTERRUPTS_TO_LEAVE || shell->write_errno)
		return true;
	if (!shell->is_answered || shell->has_failed || shell->options->json)
		return shell->is_answered;
	bool has_all = shell->seen[SANDBAR_STDOUT] >= shell->end[SANDBAR_STDOUT] &&
	               shell->seen[SANDBAR_STDERR] >= shell->end[SANDBAR_STDERR];
	return (has_all || shell->is_closed) && outlet_is_drained(&shell->outlet);
}

static int follow(struct shell *shell, const char *command, struct sandbar_error *error)
{
	struct sandbar_attachment attachment = {
		.session = shell->session,
		.after = SANDBAR_FROM_NOW,
		.lossless = true,
		.processes = &shell->process,
		.process_count = 1,
		.window = WINDOW,
		.events = &EVENTS,
		.user = shell,
	};
	struct writer params;

	if (!shell->options->json && !(shell->channel = sandbar_attach(shell->context.sandbar, &attachment, error)))
		return -1;
	shell->outlet.channel = shell->channel;
	write_params(&params, shell, command);
	shell->request = sandbar_request(shell->context.sandbar, "shell.run", params.data, params.length, on_answer, shell,
	                                 error);
	writer_finish(&params);
	int status = shell->request ? 0 : -1;
	while (status == 0 && !is_over(shell))
		status = context_turn(&shell->context, error);
	terminal_leave();
	return is_over(shell) ? 0 : status;
}

static int exit_code_of(const struct shell *shell)
{
	if (shell->write_errno)
		return shell->write_errno == EPIPE ? 128 + SIGPIPE : EXIT_OWN_FAILURE;
	if (shell->interrupts > 0)
		return 128 + SIGINT;
	if (shell->has_failed)
		return context_fail(&shell->context, NULL, &shell->error);
	if (strcmp(shell->state, "interrupted") == 0)
		context_say("the command ran longer than it may, and was interrupted");
	if (strcmp(shell->state, "exited") == 0)
		context_say("shell %u ended with the command", shell->process);
	if (strcmp(shell->state, "lost") == 0)
		context_say("%s", shell->message[0] ? shell->message : "how the shell ended cannot be known");
	return strcmp(shell->state, "lost") == 0 || shell->exit_code < 0 ? EXIT_OWN_FAILURE : shell->exit_code;
}

static int run(struct shell *shell)
{
	static const int WATCHED[] = {SIGINT, SIGTERM, SIGHUP, 0};
	struct sandbar_error error;
	int status = context_session(&shell->context, shell->options->arguments[0], shell->session);

	if (status >= 0)
		return status;
	if (choose(shell, &error) < 0)
		return context_fail(&shell->context, NULL, &error);
	char *command = shell->options->program ? join(shell->options->program) : read_stdin();
	if (signals_watch(shell->context.sandbar, WATCHED, on_signal, shell, &error) < 0 ||
	    follow(shell, command, &error) < 0)
		status = context_fail(&shell->context, NULL, &error);
	else
		status = exit_code_of(shell);
	free(command);
	return status;
}

/* Without a command, and with a terminal to type into, there is more than a line's worth to do: a shell with a terminal. */
static int run_in_terminal(struct options *options)
{
	static const char *const BASH[] = {"bash", NULL};

	options->terminal = true;
	options->program = BASH;
	return execution_exec(options);
}

int command_shell(struct options *options)
{
	struct shell shell = {.options = options, .exit_code = -1};

	if (!options->program && isatty(STDIN_FILENO))
		return run_in_terminal(options);
	int status = context_connect(&shell.context, options);
	if (status < 0) {
		outlet_init(&shell.outlet, shell.context.sandbar, on_write_failed, &shell);
		status = run(&shell);
		outlet_finish(&shell.outlet);
	}
	context_finish(&shell.context);
	if (shell.write_errno == EPIPE)
		signals_die(SIGPIPE);
	return status;
}
