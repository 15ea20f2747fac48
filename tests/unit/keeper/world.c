#include "world.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct world world;

static void told(void)
{
	cr_assert_not(world.in_call, "an event came from within a call");
	ev_break(world.loop, EVBREAK_ONE);
}

static void on_created(void *owner, const struct layer_report *layers)
{
	(void)owner;
	world.created = true;
	world.layers = *layers;
	told();
}

static void on_create_failed(void *owner, const char *code, const char *message)
{
	(void)owner;
	snprintf(world.failed, sizeof world.failed, "%s", code);
	snprintf(world.message, sizeof world.message, "%s", message);
	told();
}

static void on_started(void *owner, uint32_t process, const struct process_streams *streams)
{
	(void)owner;
	world.seen[process].started = true;
	world.seen[process].streams = *streams;
	told();
}

static void on_start_failed(void *owner, uint32_t process, int exit_code, const char *code, const char *message)
{
	struct seen *seen = &world.seen[process];
	(void)owner;
	seen->start_failed = true;
	seen->exit_code = exit_code;
	snprintf(seen->code, sizeof seen->code, "%s", code);
	snprintf(seen->message, sizeof seen->message, "%s", message);
	told();
}

static void on_exited(void *owner, uint32_t process, int wait_status, const struct rusage *usage)
{
	(void)owner, (void)usage;
	world.seen[process].exited = true;
	world.seen[process].wait_status = wait_status;
	told();
}

static void on_killed(void *owner, uint32_t process)
{
	(void)owner;
	world.seen[process].killed = true;
	told();
}

static void on_usage(void *owner, uint32_t process, const struct process_usage *usage)
{
	(void)owner;
	world.seen[process].usage_told = true;
	world.seen[process].usage = *usage;
	told();
}

static void on_measured(void *owner, const struct sandbox_usage *usage)
{
	(void)owner;
	world.measured = true;
	world.usage = *usage;
	told();
}

static void on_lost(void *owner, const char *message)
{
	(void)owner;
	world.lost = true;
	snprintf(world.message, sizeof world.message, "%s", message);
	told();
}

static void on_destroyed(void *owner)
{
	(void)owner;
	world.destroyed = true;
	told();
}

static void on_synced(void *owner)
{
	(void)owner;
	world.synced = true;
	told();
}

static void on_keeper_gone(void *owner)
{
	(void)owner;
	world.keeper_gone = true;
	told();
}

static void on_denied(void *owner, uint32_t process, const char *call, uint32_t thread, uint64_t count)
{
	(void)owner, (void)process, (void)call, (void)thread, (void)count;
}

static const struct sandbox_events events = {
	.created = on_created,
	.create_failed = on_create_failed,
	.started = on_started,
	.start_failed = on_start_failed,
	.exited = on_exited,
	.killed = on_killed,
	.usage = on_usage,
	.measured = on_measured,
	.lost = on_lost,
	.destroyed = on_destroyed,
	.denied = on_denied,
	.synced = on_synced,
};

static void on_time(struct ev_loop *loop, ev_timer *timer, int revents)
{
	(void)timer, (void)revents;
	world.timed_out = true;
	ev_break(loop, EVBREAK_ONE);
}

void world_wait_until(const bool *condition, const char *what)
{
	ev_timer timer;
	ev_timer_init(&timer, on_time, 20, 0);
	ev_timer_start(world.loop, &timer);
	while (!*condition && !world.timed_out && !(condition == &world.created && world.failed[0] != '\0'))
		ev_run(world.loop, 0);
	ev_timer_stop(world.loop, &timer);
	cr_assert(*condition, "not told: %s (lost: %d %s; failed: %s)", what, world.lost, world.message, world.failed);
}

void world_make_sandbox(const char *session)
{
	struct sandbox_spec spec = {.limits = sandbox_limits_default()};
	memcpy(spec.session, session, SESSION_ID_LENGTH);
	world.created = world.destroyed = false;
	CALL(world.sandbox = world.driver->create(world.driver->context, &spec, &events, NULL));
}

void world_open(void)
{
	if (!keeper_process_start(&world.keeper, 2))
		cr_skip_test("no sandbox can be made here: %s", world.keeper.failure);
	world.loop = ev_loop_new(EVFLAG_AUTO);
	world.driver = namespaces_driver_create(world.loop, world.keeper.socket, on_keeper_gone, NULL);
	namespaces_driver_ready(world.driver);
	world_make_sandbox("aaaaaaaaaaaaaaaa");
	world_wait_until(&world.created, "created");
}

static void close_streams(uint32_t process)
{
	struct process_streams *streams = &world.seen[process].streams;
	const int fds[] = {streams->stdin_fd, streams->stdout_fd, streams->stderr_fd, streams->tty_fd};
	for (size_t i = 0; world.seen[process].started && i < 4; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	*streams = PROCESS_STREAMS_NONE;
}

static void *on_found(void *context, const char *session, struct sandbox *sandbox, const struct layer_report *layers,
                      const struct sandbox_events **its_events)
{
	(void)context;
	cr_assert_str_eq(session, "aaaaaaaaaaaaaaaa");
	world.found++;
	world.sandbox = sandbox;
	world.layers = *layers;
	*its_events = &events;
	return world.is_unwanted ? NULL : &world;
}

static void on_done(void *context)
{
	(void)context;
	world.adopted = true;
	if (world.on_adopted)
		world.on_adopted();
	told();
}

void world_lose_gateway(void)
{
	for (uint32_t n = 0; n < PROCESSES; n++)
		close_streams(n);
	namespaces_driver_destroy(world.driver);
	ev_loop_destroy(world.loop);
}

void world_next_gateway(bool adopts)
{
	static const struct sandbox_adoption adoption = {.found = on_found, .done = on_done};
	keeper_process_attach(&world.keeper);
	memset(world.seen, 0, sizeof world.seen);
	world.found = 0;
	world.adopted = world.synced = false;
	world.loop = ev_loop_new(EVFLAG_AUTO);
	world.driver = namespaces_driver_create(world.loop, world.keeper.socket, on_keeper_gone, NULL);
	if (adopts)
		CALL(world.driver->adopt(world.driver->context, &adoption, NULL));
	namespaces_driver_ready(world.driver);
}

void world_close(void)
{
	namespaces_driver_destroy(world.driver);
	ev_loop_destroy(world.loop);
	int null = dup(STDIN_FILENO); /* the driver closed the socket: a number for keeper_process_stop() to close */
	world.keeper.socket = null;
	cr_assert(keeper_process_stop(&world.keeper), "something was left");
}

void world_end(void)
{
	CALL(world.driver->destroy(world.sandbox));
	world_wait_until(&world.destroyed, "destroyed");
	world_close();
}

void world_start(uint32_t process, bool terminal, bool wants_stdin, const char *cwd, const char *const *argv)
{
	static const char *const environment[] = {"PATH=/usr/bin:/bin", NULL};
	struct process_spec spec = {.process = process,
	                            .argv = argv,
	                            .envp = environment,
	                            .cwd = cwd,
	                            .terminal = terminal,
	                            .wants_stdin = wants_stdin,
	                            .cols = 80,
	                            .rows = 24};
	CALL(world.driver->start(world.sandbox, &spec));
}

void world_start_shell(uint32_t process, const char *command)
{
	world_start(process, false, false, "/", (const char *const[]){"sh", "-c", command, NULL});
}

void world_read_all(int fd, char text[256])
{
	size_t length = 0;
	for (int round = 0; round < 1000; round++) {
		ssize_t part = read(fd, text + length, 255 - length);
		if (part == 0 || (part < 0 && errno == EIO))
			break;
		if (part > 0)
			length += (size_t)part;
		else
			usleep(5000);
	}
	text[length] = '\0';
}

void world_forget(uint32_t process)
{
	close_streams(process);
	CALL(world.driver->forget(world.sandbox, process));
}
