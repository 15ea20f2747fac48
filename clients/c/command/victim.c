#include "victim.h"

#include "clients/c/failure.h"

#include <stdlib.h>
#include <string.h>

enum {
	LIFE_MS = 15 * 60 * 1000, /* whatever becomes of this program, its sessions end */
	RUN_MS = 5 * 60 * 1000,
	OUTPUT_MOST = 64 * 1024 * 1024,
};

static void keep_output(struct victim *victim, const void *data, size_t length)
{
	if (victim->length + length > OUTPUT_MOST) {
		victim->is_cut_off = true;
		return;
	}
	victim->output = realloc(victim->output, victim->length + length + 1);
	if (!victim->output)
		abort();
	memcpy(victim->output + victim->length, data, length);
	victim->length += length;
	victim->output[victim->length] = '\0';
}

/* One process runs after the other, each with a higher number: its output may come before the answer that names it. */
static void take_newest(struct victim *victim, uint32_t process)
{
	if (process <= victim->process)
		return;
	victim->process = process;
	victim->is_over = victim->is_cut_off = false;
	victim->length = 0;
	keep_output(victim, "", 0);
}

static void on_output(struct sandbar_channel *channel, const struct sandbar_output *output, void *user)
{
	struct victim *victim = user;

	(void)channel;
	take_newest(victim, output->process);
	if (output->process == victim->process && output->stream == SANDBAR_STDOUT)
		keep_output(victim, output->data, output->length);
}

static void on_started(struct sandbar_channel *channel, const struct sandbar_started *started, void *user)
{
	(void)channel;
	take_newest(user, started->process);
}

static void on_exited(struct sandbar_channel *channel, uint32_t process, const struct sandbar_ending *ending,
                      void *user)
{
	struct victim *victim = user;

	(void)channel;
	if (process != victim->process)
		return;
	victim->ending = *ending;
	victim->is_over = true;
}

static void on_gap(struct sandbar_channel *channel, uint64_t from, uint64_t to, void *user)
{
	(void)channel, (void)from, (void)to;
	((struct victim *)user)->is_cut_off = true;
}

static void on_closed(struct sandbar_channel *channel, const struct sandbar_error *why, void *user)
{
	struct victim *victim = user;

	(void)channel;
	victim->channel = NULL;
	victim->closed = *why;
}

static const struct sandbar_events EVENTS = {
	.output = on_output, .started = on_started, .exited = on_exited, .gap = on_gap, .closed = on_closed};

int victim_init(struct victim *victim, struct context *context, const char *template, const int *signal,
                struct sandbar_error *error)
{
	struct sandbar_session session = {.name = "prove", .template = template, .ttl_ms = LIFE_MS, .for_proof = true};
	struct sandbar_attachment attachment = {.after = 0, .lossless = true, .events = &EVENTS, .user = victim};

	*victim = (struct victim){.context = context, .signal = signal};
	if (sandbar_session_create(context->sandbar, &session, victim->session, error) < 0)
		return -1;
	attachment.session = victim->session;
	victim->channel = sandbar_attach(context->sandbar, &attachment, error);
	return victim->channel ? 0 : -1;
}

void victim_finish(struct victim *victim)
{
	if (victim->channel)
		sandbar_detach(victim->channel);
	if (victim->session[0])
		sandbar_session_end(victim->context->sandbar, victim->session, NULL);
	free(victim->output);
	*victim = (struct victim){0};
}

static int turn(struct victim *victim, struct sandbar_error *error)
{
	if (!victim->channel) {
		*error = victim->closed;
		return -1;
	}
	if (*victim->signal)
		return failure_set(error, "interrupted", "ended by a signal");
	return context_turn(victim->context, error);
}

static int wait_until_over(struct victim *victim, struct sandbar_error *error)
{
	while (!victim->is_over)
		if (turn(victim, error) < 0)
			return -1;
	if (!victim->is_cut_off)
		return 0;
	failure_set(error, "system", "process %u wrote more than can be kept", victim->process);
	return -1;
}

static int start(struct victim *victim, struct sandbar_process *process, struct sandbar_error *error)
{
	uint32_t number;

	process->grace_ms = -1;
	process->kill_on_disconnect = true;
	if (sandbar_process_start(victim->context->sandbar, victim->session, process, &number, NULL, error) < 0)
		return -1;
	take_newest(victim, number);
	return 0;
}

/* Sends all of DATA and the end of input. */
static int feed(struct victim *victim, const char *data, size_t length, struct sandbar_error *error)
{
	while (length > 0) {
		size_t taken = victim->channel ? sandbar_input(victim->channel, victim->process, data, length) : 0;
		data += taken;
		length -= taken;
		if (taken == 0 && turn(victim, error) < 0)
			return -1;
		if (victim->is_over)
			break;
	}
	if (victim->channel)
		sandbar_input_eof(victim->channel, victim->process);
	return 0;
}

/* 0 if the newest process ended well. */
static int check_success(const struct victim *victim, const char *what, struct sandbar_error *error)
{
	if (victim->ending.exit_code == 0)
		return 0;
	failure_set(error, "system", "%s inside left with %d%s%s", what, victim->ending.exit_code,
	            victim->ending.message[0] ? ": " : "", victim->ending.message);
	return -1;
}

/* In two steps, since a session may allow no second process: the shell becomes cat. */
int victim_put(struct victim *victim, const char *path, const char *mode, const void *data, size_t length,
               struct sandbar_error *error)
{
	const char *const writes[] = {"/bin/sh", "-c", "exec cat >\"$0\"", path, NULL};
	const char *const changes[] = {"chmod", mode, path, NULL};
	struct sandbar_process process = {.argv = writes, .with_stdin = true, .wall_ms = RUN_MS};

	if (start(victim, &process, error) < 0 || feed(victim, data, length, error) < 0 ||
	    wait_until_over(victim, error) < 0 || check_success(victim, "writing a file", error) < 0)
		return -1;
	if (victim_run(victim, changes, NULL, error) < 0)
		return -1;
	return check_success(victim, "chmod", error);
}

int victim_run(struct victim *victim, const char *const *argv, const char *env, struct sandbar_error *error)
{
	const char *const variables[] = {env, NULL};
	struct sandbar_process process = {.argv = argv, .env = env ? variables : NULL, .wall_ms = RUN_MS};

	if (start(victim, &process, error) < 0)
		return -1;
	return wait_until_over(victim, error);
}

int victim_leave_running(struct victim *victim, const char *const *argv, const char *env, struct sandbar_error *error)
{
	const char *const variables[] = {env, NULL};
	struct sandbar_process process = {.argv = argv, .env = env ? variables : NULL, .with_stdin = true};

	if (start(victim, &process, error) < 0)
		return -1;
	while (victim->length == 0 && !victim->is_over)
		if (turn(victim, error) < 0)
			return -1;
	return victim->is_over ? check_success(victim, "the neighbour", error) : 0;
}
