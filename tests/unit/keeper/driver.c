/*
 * The driver `namespaces` on a loop, against a keeper with real sandboxes: what the server's sessions do with it.
 */
#include "world.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* A command runs, its output comes on the right stream, and its exit code is told. Twenty of them, at once. */
Test(driver, runs_commands, .timeout = 60)
{
	char text[256];
	world_open();
	for (uint32_t n = 1; n <= 20; n++)
		world_start_shell(n, "echo out; echo err >&2; exit 7");
	for (uint32_t n = 1; n <= 20; n++) {
		struct seen *seen = &world.seen[n];
		world_wait_until(&seen->exited, "exited");
		cr_assert(seen->started);
		cr_assert(WIFEXITED(seen->wait_status));
		cr_assert_eq(WEXITSTATUS(seen->wait_status), 7);
		world_read_all(seen->streams.stdout_fd, text);
		cr_assert_str_eq(text, "out\n");
		world_read_all(seen->streams.stderr_fd, text);
		cr_assert_str_eq(text, "err\n");
		cr_assert_eq(seen->streams.stdin_fd, -1);
		world_forget(n);
	}
	world_end();
}

/* A terminal has the size that was asked for; stdin by a pipe ends when it is closed on both sides. */
Test(driver, has_terminals_and_stdin, .timeout = 60)
{
	char text[256];
	world_open();
	world_start(1, true, false, "/tmp", (const char *const[]){"sh", "-c", "stty size; pwd", NULL});
	world_start(2, false, true, "/", (const char *const[]){"cat", NULL});
	world_wait_until(&world.seen[1].exited, "the terminal's end");
	world_read_all(world.seen[1].streams.tty_fd, text);
	cr_assert_str_eq(text, "24 80\r\n/tmp\r\n");
	world_wait_until(&world.seen[2].started, "cat");
	cr_assert_eq(write(world.seen[2].streams.stdin_fd, "abc", 3), 3);
	close(world.seen[2].streams.stdin_fd);
	world.seen[2].streams.stdin_fd = -1;
	CALL(world.driver->close_stdin(world.sandbox, 2));
	world_wait_until(&world.seen[2].exited, "cat's end");
	world_read_all(world.seen[2].streams.stdout_fd, text);
	cr_assert_str_eq(text, "abc");
	world_forget(1);
	world_forget(2);
	world_end();
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
	world_open();
	for (uint32_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct seen *seen = &world.seen[i + 1];
		world_start(i + 1, false, false, rows[i].directory, (const char *const[]){rows[i].program, NULL});
		CALL(world.driver->kill(world.sandbox, i + 1)); /* asked for too early: answered all the same */
		world_wait_until(&seen->start_failed, rows[i].program);
		cr_assert_eq(seen->exit_code, rows[i].exit_code, "%s: %d %s", rows[i].program, seen->exit_code, seen->message);
		cr_assert_str_eq(seen->code, rows[i].code);
		cr_assert(strstr(seen->message, rows[i].part), "%s", seen->message);
		world_wait_until(&seen->killed, "killed");
	}
	world_end();
}

/* A payload over its limit is no room: nothing was run. The next number works. */
Test(driver, refuses_too_much, .timeout = 60)
{
	static char argument[100 * 1024];
	const char *argv[120] = {"true"};
	world_open();
	memset(argument, 'x', sizeof argument - 1);
	for (size_t i = 1; i < 119; i++)
		argv[i] = argument;
	world_start(1, false, false, "/", argv);
	world_wait_until(&world.seen[1].start_failed, "too much");
	cr_assert_eq(world.seen[1].exit_code, 0);
	cr_assert_str_eq(world.seen[1].code, "limit");
	world_start_shell(2, "exit 3");
	world_wait_until(&world.seen[2].exited, "the next one");
	cr_assert_eq(WEXITSTATUS(world.seen[2].wait_status), 3);
	world_forget(2);
	world_end();
}

/* Killing means the tree: what ignores signals and left its session dies too, and `killed` comes when it is gone. */
Test(driver, kills_trees, .timeout = 60)
{
	char text[256];
	world_open();
	world_start_shell(1, "trap '' TERM; (setsid sh -c \"trap '' TERM; sleep 300\" &) ; echo ready; sleep 300");
	world_start_shell(2, "sleep 300");
	world_wait_until(&world.seen[1].started, "started");
	cr_assert_eq(read(world.seen[1].streams.stdout_fd, text, sizeof text) > 0 || usleep(300000) == 0, true);
	CALL(world.driver->signal(world.sandbox, 1, SIGTERM, SIGNAL_TREE));
	CALL(world.driver->usage(world.sandbox, 1));
	world_wait_until(&world.seen[1].usage_told, "usage");
	CALL(world.driver->kill(world.sandbox, 1));
	CALL(world.driver->kill(world.sandbox, 1));
	world_wait_until(&world.seen[1].killed, "killed");
	world_wait_until(&world.seen[1].exited, "exited");
	cr_assert(WIFSIGNALED(world.seen[1].wait_status));
	if (world.layers.layers[LAYER_CGROUP].on)
		cr_assert_eq(world.seen[1].usage.populated, 1);
	world.seen[1].usage_told = false;
	CALL(world.driver->usage(world.sandbox, 1));
	world_wait_until(&world.seen[1].usage_told, "usage");
	if (world.layers.layers[LAYER_CGROUP].on)
		cr_assert_eq(world.seen[1].usage.populated, 0);
	cr_assert_not(world.seen[2].exited, "another process was hit");
	world_forget(1);
	CALL(world.driver->kill(world.sandbox, 1));
	world_end();
}

static void measure(void)
{
	world.measured = false;
	CALL(world.driver->measure(world.sandbox));
	world_wait_until(&world.measured, "measured");
}

/* What a whole sandbox uses: nothing of it is the user's before a process runs; what ended stays counted where it used time, and
 * files take room until they are removed. */
Test(driver, measures_a_sandbox, .timeout = 60)
{
	char text[256];
	world_open();
	measure();
	struct sandbox_usage before = world.usage;
	world_start_shell(
		1, "head -c 20M /dev/zero >/work/f; touch /tmp/1 /tmp/2 /tmp/3; sleep 300 & sleep 300 & echo ready; wait");
	world_wait_until(&world.seen[1].started, "started");
	for (size_t got = 0; got < 6; usleep(10000)) {
		ssize_t n = read(world.seen[1].streams.stdout_fd, text, sizeof text);
		got += n > 0 ? (size_t)n : 0;
	}
	measure();
	cr_expect(world.usage.workspace >= before.workspace + (20 << 20) && world.usage.inodes >= before.inodes + 4,
	          "%llu bytes, %llu inodes", (unsigned long long)world.usage.workspace,
	          (unsigned long long)world.usage.inodes);
	if (world.layers.layers[LAYER_CGROUP].on) {
		cr_expect_eq(before.tasks, 0, "%llu before anything ran", (unsigned long long)before.tasks);
		cr_expect_eq(world.usage.tasks, 3, "%llu", (unsigned long long)world.usage.tasks);
		cr_expect(world.usage.cpu_us > before.cpu_us && world.usage.cpu_us < 60000000);
	}
	if (world.layers.layers[LAYER_CGROUP_MEMORY].on)
		cr_expect(world.usage.memory >= 20 << 20 && world.usage.memory_peak >= world.usage.memory &&
		              world.usage.memory < UINT64_C(1) << 30,
		          "%llu", (unsigned long long)world.usage.memory);
	CALL(world.driver->kill(world.sandbox, 1));
	world_wait_until(&world.seen[1].killed, "killed");
	do { /* the kernel counts a task until it has freed it */
		usleep(10000);
		measure();
	} while (world.layers.layers[LAYER_CGROUP].on && world.usage.tasks > 0);
	world_forget(1);
	world_end();
}

/* A signal that is asked for right after the start reaches the process that it was meant for. */
Test(driver, signals_early, .timeout = 60)
{
	world_open();
	for (uint32_t n = 1; n <= 5; n++) {
		world_start_shell(n, "sleep 300");
		CALL(world.driver->signal(world.sandbox, n, SIGKILL, SIGNAL_LEADER));
	}
	for (uint32_t n = 1; n <= 5; n++) {
		world_wait_until(&world.seen[n].exited, "exited");
		cr_assert(WIFSIGNALED(world.seen[n].wait_status) && WTERMSIG(world.seen[n].wait_status) == SIGKILL);
	}
	world_end();
}

/* The keeper's bound on sessions is an error of the one that is too many; an id that is in use is refused; room comes
 * back with the end of a sandbox; and destroy() may come before `created`. */
Test(driver, bounds_sessions, .timeout = 60)
{
	world_open();
	struct sandbox *first = world.sandbox;
	world_make_sandbox("bbbbbbbbbbbbbbbb");
	world_wait_until(&world.created, "the second");
	struct sandbox *second = world.sandbox;
	world_make_sandbox("cccccccccccccccc");
	while (world.failed[0] == '\0')
		ev_run(world.loop, 0);
	cr_assert_str_eq(world.failed, "limit");
	cr_assert(strstr(world.message, "at most 2 sessions"), "%s", world.message);
	CALL(world.driver->destroy(second));
	world_wait_until(&world.destroyed, "destroyed");
	world_make_sandbox("dddddddddddddddd");
	CALL(world.driver->destroy(world.sandbox));
	world_wait_until(&world.destroyed, "destroyed before it was created");
	world.sandbox = first;
	world.destroyed = false;
	world_end();
}

/* A server that stops takes its sandboxes along. */
Test(driver, ends_with_its_server, .timeout = 60)
{
	world_open();
	world_start_shell(1, "setsid sleep 300 & sleep 300");
	world_wait_until(&world.seen[1].started, "started");
	world_close();
}

/* A keeper that dies takes everything along; the gateway hears that, and what it still asks for is answered. */
Test(driver, survives_its_keeper, .timeout = 60)
{
	world_open();
	world_start_shell(1, "sleep 300");
	world_wait_until(&world.seen[1].started, "started");
	keeper_process_kill(&world.keeper);
	world_wait_until(&world.keeper_gone, "the keeper is gone");
	world_wait_until(&world.lost, "lost");
	struct sandbox *first = world.sandbox;
	world_make_sandbox("bbbbbbbbbbbbbbbb");
	while (world.failed[0] == '\0')
		ev_run(world.loop, 0);
	cr_assert_str_eq(world.failed, "unavailable");
	world.sandbox = first;
	world_start_shell(2, "exit 0");
	world_wait_until(&world.seen[2].start_failed, "start_failed");
	CALL(world.driver->kill(first, 1));
	CALL(world.driver->usage(first, 1));
	world_wait_until(&world.seen[1].killed, "killed");
	world_wait_until(&world.seen[1].usage_told, "usage");
	CALL(world.driver->destroy(first));
	world_wait_until(&world.destroyed, "destroyed");
	namespaces_driver_destroy(world.driver);
	ev_loop_destroy(world.loop);
	cr_assert(keeper_process_start(&world.keeper, 1), "%s", world.keeper.failure);
	cr_assert(keeper_process_stop(&world.keeper), "the next keeper does not sweep what the dead one left");
}
