/*
 * The driver `namespaces` on a loop, against a keeper with real sandboxes: what the server's sessions do with it.
 */
#include "keeper_process.h"
#include "sandbox/init/wire.h"
#include "server/gateway/driver/namespaces.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PROCESSES = 64 };

/* What was told of one process, and what it wrote. */
struct seen {
	bool started, start_failed, exited, killed, usage_told;
	int exit_code, wait_status;
	char code[32], message[256];
	struct process_streams streams;
	struct process_usage usage;
};

struct world {
	struct ev_loop *loop;
	struct driver *driver;
	struct keeper_process keeper;
	struct sandbox *sandbox;
	struct layer_report layers;
	struct seen seen[PROCESSES];
	bool in_call; /* no event may come now */
	bool created, destroyed, lost, keeper_gone, timed_out;
	char failed[32], message[256];
};

static struct world world;

#define CALL(...)              \
	do {                       \
		world.in_call = true;  \
		__VA_ARGS__;           \
		world.in_call = false; \
	} while (0)

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

static void on_keeper_gone(void *owner)
{
	(void)owner;
	world.keeper_gone = true;
	told();
}

static const struct sandbox_events events = {
	.created = on_created,
	.create_failed = on_create_failed,
	.started = on_started,
	.start_failed = on_start_failed,
	.exited = on_exited,
	.killed = on_killed,
	.usage = on_usage,
	.lost = on_lost,
	.destroyed = on_destroyed,
};

static void on_time(struct ev_loop *loop, ev_timer *timer, int revents)
{
	(void)timer, (void)revents;
	world.timed_out = true;
	ev_break(loop, EVBREAK_ONE);
}

/* Let the loop run until CONDITION, for 20 s at most. */
static void wait_until(const bool *condition, const char *what)
{
	ev_timer timer;
	ev_timer_init(&timer, on_time, 20, 0);
	ev_timer_start(world.loop, &timer);
	while (!*condition && !world.timed_out && !(condition == &world.created && world.failed[0] != '\0'))
		ev_run(world.loop, 0);
	ev_timer_stop(world.loop, &timer);
	cr_assert(*condition, "not told: %s (lost: %d %s; failed: %s)", what, world.lost, world.message, world.failed);
}

static void make_sandbox(const char *session)
{
	struct sandbox_spec spec = {.limits = sandbox_limits_default()};
	memcpy(spec.session, session, SESSION_ID_LENGTH);
	world.created = world.destroyed = false;
	CALL(world.sandbox = world.driver->create(world.driver->context, &spec, &events, NULL));
}

static void open_world(void)
{
	if (!keeper_process_start(&world.keeper, 2))
		cr_skip_test("no sandbox can be made here: %s", world.keeper.failure);
	world.loop = ev_loop_new(EVFLAG_AUTO);
	world.driver = namespaces_driver_create(world.loop, world.keeper.socket, on_keeper_gone, NULL);
	namespaces_driver_ready(world.driver);
	make_sandbox("aaaaaaaaaaaaaaaa");
	wait_until(&world.created, "created");
}

static void close_world(void)
{
	namespaces_driver_destroy(world.driver);
	ev_loop_destroy(world.loop);
	int null = dup(STDIN_FILENO); /* the driver closed the socket: a number for keeper_process_stop() to close */
	world.keeper.socket = null;
	cr_assert(keeper_process_stop(&world.keeper), "something was left");
}

static void end_world(void)
{
	CALL(world.driver->destroy(world.sandbox));
	wait_until(&world.destroyed, "destroyed");
	close_world();
}

static void start(uint32_t process, bool terminal, bool wants_stdin, const char *cwd, const char *const *argv)
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

static void start_shell(uint32_t process, const char *command)
{
	start(process, false, false, "/", (const char *const[]){"sh", "-c", command, NULL});
}

static void read_all(int fd, char text[256])
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

static void forget(uint32_t process)
{
	const int fds[] = {world.seen[process].streams.stdin_fd, world.seen[process].streams.stdout_fd,
	                   world.seen[process].streams.stderr_fd, world.seen[process].streams.tty_fd};
	for (size_t i = 0; i < 4; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	CALL(world.driver->forget(world.sandbox, process));
}

/* A command runs, its output comes on the right stream, and its exit code is told. Twenty of them, at once. */
Test(driver, runs_commands, .timeout = 60)
{
	char text[256];
	open_world();
	for (uint32_t n = 1; n <= 20; n++)
		start_shell(n, "echo out; echo err >&2; exit 7");
	for (uint32_t n = 1; n <= 20; n++) {
		struct seen *seen = &world.seen[n];
		wait_until(&seen->exited, "exited");
		cr_assert(seen->started);
		cr_assert(WIFEXITED(seen->wait_status));
		cr_assert_eq(WEXITSTATUS(seen->wait_status), 7);
		read_all(seen->streams.stdout_fd, text);
		cr_assert_str_eq(text, "out\n");
		read_all(seen->streams.stderr_fd, text);
		cr_assert_str_eq(text, "err\n");
		cr_assert_eq(seen->streams.stdin_fd, -1);
		forget(n);
	}
	end_world();
}

/* A terminal has the size that was asked for; stdin by a pipe ends when it is closed on both sides. */
Test(driver, has_terminals_and_stdin, .timeout = 60)
{
	char text[256];
	open_world();
	start(1, true, false, "/tmp", (const char *const[]){"sh", "-c", "stty size; pwd", NULL});
	start(2, false, true, "/", (const char *const[]){"cat", NULL});
	wait_until(&world.seen[1].exited, "the terminal's end");
	read_all(world.seen[1].streams.tty_fd, text);
	cr_assert_str_eq(text, "24 80\r\n/tmp\r\n");
	wait_until(&world.seen[2].started, "cat");
	cr_assert_eq(write(world.seen[2].streams.stdin_fd, "abc", 3), 3);
	close(world.seen[2].streams.stdin_fd);
	world.seen[2].streams.stdin_fd = -1;
	CALL(world.driver->close_stdin(world.sandbox, 2));
	wait_until(&world.seen[2].exited, "cat's end");
	read_all(world.seen[2].streams.stdout_fd, text);
	cr_assert_str_eq(text, "abc");
	forget(1);
	forget(2);
	end_world();
}

/* What cannot be started is told in the user's words, with a shell's exit codes. */
Test(driver, says_why_nothing_started, .timeout = 60)
{
	static const struct {
		const char *program, *directory, *code, *part;
		int exit_code;
	} rows[] = {
		{"no-such-program", "/", "not_found", "`no-such-program`: not found", 127},
		{"/etc/passwd", "/", "forbidden", "`/etc/passwd`: not executable", 126},
		{"/usr", "/", "forbidden", "`/usr`: not executable", 126},
		{"sh", "/no/such", "not_found", "`/no/such`: the working directory does not exist", 126},
	};
	open_world();
	for (uint32_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct seen *seen = &world.seen[i + 1];
		start(i + 1, false, false, rows[i].directory, (const char *const[]){rows[i].program, NULL});
		CALL(world.driver->kill(world.sandbox, i + 1)); /* asked for too early: answered all the same */
		wait_until(&seen->start_failed, rows[i].program);
		cr_assert_eq(seen->exit_code, rows[i].exit_code, "%s: %d %s", rows[i].program, seen->exit_code, seen->message);
		cr_assert_str_eq(seen->code, rows[i].code);
		cr_assert(strstr(seen->message, rows[i].part), "%s", seen->message);
		wait_until(&seen->killed, "killed");
	}
	end_world();
}

/* A payload over its limit is no room: nothing was run. The next number works. */
Test(driver, refuses_too_much, .timeout = 60)
{
	static char argument[100 * 1024];
	const char *argv[120] = {"true"};
	open_world();
	memset(argument, 'x', sizeof argument - 1);
	for (size_t i = 1; i < 119; i++)
		argv[i] = argument;
	start(1, false, false, "/", argv);
	wait_until(&world.seen[1].start_failed, "too much");
	cr_assert_eq(world.seen[1].exit_code, 0);
	cr_assert_str_eq(world.seen[1].code, "limit");
	start_shell(2, "exit 3");
	wait_until(&world.seen[2].exited, "the next one");
	cr_assert_eq(WEXITSTATUS(world.seen[2].wait_status), 3);
	forget(2);
	end_world();
}

/* Killing means the tree: what ignores signals and left its session dies too, and `killed` comes when it is gone. */
Test(driver, kills_trees, .timeout = 60)
{
	char text[256];
	open_world();
	start_shell(1, "trap '' TERM; (setsid sh -c \"trap '' TERM; sleep 300\" &) ; echo ready; sleep 300");
	start_shell(2, "sleep 300");
	wait_until(&world.seen[1].started, "started");
	cr_assert_eq(read(world.seen[1].streams.stdout_fd, text, sizeof text) > 0 || usleep(300000) == 0, true);
	CALL(world.driver->signal(world.sandbox, 1, SIGTERM, SIGNAL_TREE));
	CALL(world.driver->usage(world.sandbox, 1));
	wait_until(&world.seen[1].usage_told, "usage");
	CALL(world.driver->kill(world.sandbox, 1));
	CALL(world.driver->kill(world.sandbox, 1));
	wait_until(&world.seen[1].killed, "killed");
	wait_until(&world.seen[1].exited, "exited");
	cr_assert(WIFSIGNALED(world.seen[1].wait_status));
	if (world.layers.layers[LAYER_CGROUP].on)
		cr_assert_eq(world.seen[1].usage.populated, 1);
	world.seen[1].usage_told = false;
	CALL(world.driver->usage(world.sandbox, 1));
	wait_until(&world.seen[1].usage_told, "usage");
	if (world.layers.layers[LAYER_CGROUP].on)
		cr_assert_eq(world.seen[1].usage.populated, 0);
	cr_assert_not(world.seen[2].exited, "another process was hit");
	forget(1);
	CALL(world.driver->kill(world.sandbox, 1));
	end_world();
}

/* A signal that is asked for right after the start reaches the process that it was meant for. */
Test(driver, signals_early, .timeout = 60)
{
	open_world();
	for (uint32_t n = 1; n <= 5; n++) {
		start_shell(n, "sleep 300");
		CALL(world.driver->signal(world.sandbox, n, SIGKILL, SIGNAL_LEADER));
	}
	for (uint32_t n = 1; n <= 5; n++) {
		wait_until(&world.seen[n].exited, "exited");
		cr_assert(WIFSIGNALED(world.seen[n].wait_status) && WTERMSIG(world.seen[n].wait_status) == SIGKILL);
	}
	end_world();
}

/* The keeper's bound on sessions is an error of the one that is too many; an id that is in use is refused; room comes
 * back with the end of a sandbox; and destroy() may come before `created`. */
Test(driver, bounds_sessions, .timeout = 60)
{
	open_world();
	struct sandbox *first = world.sandbox;
	make_sandbox("bbbbbbbbbbbbbbbb");
	wait_until(&world.created, "the second");
	struct sandbox *second = world.sandbox;
	make_sandbox("cccccccccccccccc");
	while (world.failed[0] == '\0')
		ev_run(world.loop, 0);
	cr_assert_str_eq(world.failed, "limit");
	cr_assert(strstr(world.message, "at most 2 sessions"), "%s", world.message);
	CALL(world.driver->destroy(second));
	wait_until(&world.destroyed, "destroyed");
	make_sandbox("dddddddddddddddd");
	CALL(world.driver->destroy(world.sandbox));
	wait_until(&world.destroyed, "destroyed before it was created");
	world.sandbox = first;
	world.destroyed = false;
	end_world();
}

/* A server that stops takes its sandboxes along. */
Test(driver, ends_with_its_server, .timeout = 60)
{
	open_world();
	start_shell(1, "setsid sleep 300 & sleep 300");
	wait_until(&world.seen[1].started, "started");
	close_world();
}

/* A keeper that dies takes everything along; the gateway hears that, and what it still asks for is answered. */
Test(driver, survives_its_keeper, .timeout = 60)
{
	open_world();
	start_shell(1, "sleep 300");
	wait_until(&world.seen[1].started, "started");
	keeper_process_kill(&world.keeper);
	wait_until(&world.keeper_gone, "the keeper is gone");
	wait_until(&world.lost, "lost");
	struct sandbox *first = world.sandbox;
	make_sandbox("bbbbbbbbbbbbbbbb");
	while (world.failed[0] == '\0')
		ev_run(world.loop, 0);
	cr_assert_str_eq(world.failed, "unavailable");
	world.sandbox = first;
	start_shell(2, "exit 0");
	wait_until(&world.seen[2].start_failed, "start_failed");
	CALL(world.driver->kill(first, 1));
	CALL(world.driver->usage(first, 1));
	wait_until(&world.seen[1].killed, "killed");
	wait_until(&world.seen[1].usage_told, "usage");
	CALL(world.driver->destroy(first));
	wait_until(&world.destroyed, "destroyed");
	namespaces_driver_destroy(world.driver);
	ev_loop_destroy(world.loop);
	cr_assert(keeper_process_start(&world.keeper, 1), "%s", world.keeper.failure);
	cr_assert(keeper_process_stop(&world.keeper), "the next keeper does not sweep what the dead one left");
}
