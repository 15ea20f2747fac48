/*
 * A gateway dies and the next one takes over what it left: the same processes, with their streams and their endings,
 * whatever the dead one was just doing. Against a keeper with real sandboxes.
 */
#include "world.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void next_gateway(void)
{
	world_lose_gateway();
	world_next_gateway(true);
	world_wait_until(&world.adopted, "adopted");
	cr_assert_eq(world.found, 1);
}

static void must_exit(uint32_t process, int code)
{
	world_wait_until(&world.seen[process].exited, "exited");
	cr_assert(WIFEXITED(world.seen[process].wait_status));
	cr_assert_eq(WEXITSTATUS(world.seen[process].wait_status), code);
}

static void must_die_of(uint32_t process, int signo)
{
	world_wait_until(&world.seen[process].exited, "exited");
	cr_assert(WIFSIGNALED(world.seen[process].wait_status));
	cr_assert_eq(WTERMSIG(world.seen[process].wait_status), signo);
}

static void say(int fd, const char *line)
{
	cr_assert_eq(write(fd, line, strlen(line)), (ssize_t)strlen(line));
}

/* What one process wrote before and after its gateway died comes through, stdin too; who ended before is told with the
 * status of then; a stdin that was closed is told as none; new processes take the numbers and leaves that follow. */
Test(adoption, goes_on_with_everything, .timeout = 60)
{
	char text[256];
	world_open();
	world_start(1, false, true, "/", (const char *const[]){"sh", "-c", "echo $$; read x; echo $$ $x", NULL});
	world_start_shell(2, "echo kept; exit 4");
	world_start(3, false, true, "/", (const char *const[]){"sh", "-c", "cat; sleep 300", NULL});
	world_start(4, true, false, "/", (const char *const[]){"sh", "-c", "stty -echo; read x; echo \"got $x\"", NULL});
	world_wait_until(&world.seen[2].exited, "exited");
	world_wait_until(&world.seen[4].started, "started");
	CALL(world.driver->close_stdin(world.sandbox, 3));
	usleep(100000); /* the terminal's echo is off by then, and init has read close_stdin */

	next_gateway();
	world_wait_until(&world.synced, "synced");
	for (uint32_t n = 1; n <= 4; n++)
		cr_assert(world.seen[n].started, "process %u was not told", n);
	must_exit(2, 4);
	cr_assert_not(world.seen[1].exited || world.seen[3].exited || world.seen[4].exited);
	cr_assert_eq(world.seen[3].streams.stdin_fd, -1);
	world_read_all(world.seen[2].streams.stdout_fd, text);
	cr_assert_str_eq(text, "kept\n");
	say(world.seen[1].streams.stdin_fd, "word\n");
	say(world.seen[4].streams.tty_fd, "line\n");
	must_exit(1, 0);
	must_exit(4, 0);
	int before, after;
	char word[16];
	world_read_all(world.seen[1].streams.stdout_fd, text);
	cr_assert_eq(sscanf(text, "%d\n%d %15s", &before, &after, word), 3, "%s", text);
	cr_assert(before == after && strcmp(word, "word") == 0, "%s", text);
	world_read_all(world.seen[4].streams.tty_fd, text);
	cr_assert(strstr(text, "got line\r\n"), "%s", text);

	for (uint32_t n = 5; n <= 9; n++)
		world_start_shell(n, "exit 5");
	for (uint32_t n = 5; n <= 9; n++)
		must_exit(n, 5);
	for (uint32_t n = 1; n <= 9; n++)
		if (n != 3)
			world_forget(n);
	CALL(world.driver->kill(world.sandbox, 3));
	world_wait_until(&world.seen[3].killed, "killed");
	world_end();
}

static void ask_for_everything(void)
{
	CALL(world.driver->kill(world.sandbox, 1));
	CALL(world.driver->close_stdin(world.sandbox, 2));
	CALL(world.driver->signal(world.sandbox, 3, SIGTERM, SIGNAL_LEADER));
	CALL(world.driver->kill(world.sandbox, 50));
	CALL(world.driver->usage(world.sandbox, 51));
	CALL(world.driver->forget(world.sandbox, 4));
	world_start_shell(5, "exit 5");
	world_start_shell(6, "exit 6");
}

/* What is asked before init has told its processes is done as soon as it has. */
Test(adoption, holds_what_is_asked_early, .timeout = 60)
{
	world_open();
	world_start_shell(1, "setsid sleep 300 & sleep 300");
	world_start(2, false, true, "/", (const char *const[]){"cat", NULL});
	world_start_shell(3, "sleep 300");
	world_start_shell(4, "exit 4");
	world_wait_until(&world.seen[4].exited, "exited");
	world.on_adopted = ask_for_everything;
	next_gateway();
	world.on_adopted = NULL;
	world_wait_until(&world.synced, "synced");
	cr_assert_not(world.seen[50].started);
	world_wait_until(&world.seen[50].killed, "killed, though it never was");
	world_wait_until(&world.seen[51].usage_told, "usage");
	world_wait_until(&world.seen[1].killed, "killed");
	must_die_of(1, SIGKILL);
	close(world.seen[2].streams.stdin_fd);
	world.seen[2].streams.stdin_fd = -1;
	must_exit(2, 0);
	must_die_of(3, SIGTERM);
	must_exit(4, 4);
	must_exit(5, 5);
	must_exit(6, 6);
	for (uint32_t n = 1; n <= 6; n++)
		world_forget(n);
	world_end();
}

static void start_one(void)
{
	world_start_shell(1, "exit 9");
}

/* The successor does not know of a start that its predecessor had sent, and uses its number again: that fails, and the
 * one that runs is told. */
Test(adoption, fails_a_number_that_is_taken, .timeout = 60)
{
	world_open();
	world_start_shell(1, "sleep 300");
	world_wait_until(&world.seen[1].started, "started");
	world.on_adopted = start_one;
	next_gateway();
	world.on_adopted = NULL;
	world_wait_until(&world.synced, "synced");
	cr_assert(world.seen[1].start_failed && world.seen[1].started);
	cr_assert_str_eq(world.seen[1].code, "internal");
	CALL(world.driver->kill(world.sandbox, 1));
	world_wait_until(&world.seen[1].killed, "killed");
	must_die_of(1, SIGKILL);
	world_forget(1);
	world_start_shell(2, "exit 2");
	must_exit(2, 2);
	world_forget(2);
	world_end();
}

static void wait_for_boxes(size_t boxes)
{
	for (int round = 0; keeper_process_count(&world.keeper).boxes != boxes; round++) {
		cr_assert_lt(round, 2000, "sandboxes are left");
		usleep(5000);
	}
}

/* A kill that was asked for goes on without who asked; so does the end of a sandbox, which is not handed on. */
Test(adoption, finishes_what_was_asked, .timeout = 60)
{
	char text[256];
	world_open();
	world_start_shell(1, "trap '' TERM; for i in 1 2 3 4 5 6; do sleep 300 & done; echo ready; wait");
	world_wait_until(&world.seen[1].started, "started");
	while (read(world.seen[1].streams.stdout_fd, text, sizeof text) <= 0)
		usleep(1000);
	CALL(world.driver->kill(world.sandbox, 1));
	next_gateway();
	must_die_of(1, SIGKILL);
	CALL(world.driver->kill(world.sandbox, 1));
	world_wait_until(&world.seen[1].killed, "killed, asked for again");
	CALL(world.driver->destroy(world.sandbox));
	world_lose_gateway();
	world_next_gateway(true);
	world_wait_until(&world.adopted, "adopted");
	cr_assert_eq(world.found, 0);
	wait_for_boxes(0);
	world_make_sandbox("aaaaaaaaaaaaaaaa");
	world_wait_until(&world.created, "created, under the same name");
	world_end();
}

/* A gateway that does not want a sandbox, or does not even ask, leaves it to its end. */
Test(adoption, leaves_what_it_does_not_want, .timeout = 60)
{
	world_open();
	world_start_shell(1, "sleep 300");
	world_wait_until(&world.seen[1].started, "started");
	world.is_unwanted = true;
	next_gateway();
	wait_for_boxes(0);
	world.is_unwanted = false;
	world_make_sandbox("aaaaaaaaaaaaaaaa");
	world_wait_until(&world.created, "created");
	world_lose_gateway();
	world_next_gateway(false);
	wait_for_boxes(0);
	world_close();
}

static void destroy_it(void)
{
	CALL(world.driver->destroy(world.sandbox));
}

/* It may end at once. */
Test(adoption, may_be_followed_by_the_end, .timeout = 60)
{
	world_open();
	world_start_shell(1, "sleep 300");
	world_wait_until(&world.seen[1].started, "started");
	world.on_adopted = destroy_it;
	next_gateway();
	world_wait_until(&world.destroyed, "destroyed");
	cr_assert_not(world.synced || world.seen[1].started);
	world_close();
}

/* Init is a child of the keeper, and the only one. */
static pid_t find_init(void)
{
	char path[64], text[64] = "";
	snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)world.keeper.pid, (int)world.keeper.pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
	if (fd >= 0)
		close(fd);
	return got > 0 ? atoi(text) : 0;
}

/* What died while nobody watched is not handed on. */
Test(adoption, leaves_out_what_died_meanwhile, .timeout = 60)
{
	world_open();
	world_start_shell(1, "sleep 300");
	world_wait_until(&world.seen[1].started, "started");
	pid_t init = find_init();
	if (init == 0)
		cr_skip_test("this kernel does not tell a process's children");
	world_lose_gateway();
	cr_assert_eq(kill(init, SIGKILL), 0);
	usleep(100000);
	world_next_gateway(true);
	world_wait_until(&world.adopted, "adopted");
	cr_assert_eq(world.found, 0);
	wait_for_boxes(0);
	world_make_sandbox("aaaaaaaaaaaaaaaa");
	world_wait_until(&world.created, "created, under the same name");
	world_end();
}

/* It dies right after it was handed on: that is told as of any other, and `synced` is not. */
Test(adoption, tells_a_death_that_comes_later, .timeout = 60)
{
	world_open();
	pid_t init = find_init();
	if (init == 0)
		cr_skip_test("this kernel does not tell a process's children");
	world_lose_gateway();
	cr_assert_eq(kill(init, SIGSTOP), 0);
	world_next_gateway(true);
	world_wait_until(&world.adopted, "adopted");
	cr_assert_eq(world.found, 1);
	CALL(world.driver->kill(world.sandbox, 1));
	cr_assert_eq(kill(init, SIGKILL), 0);
	world_wait_until(&world.lost, "lost");
	world_wait_until(&world.seen[1].killed, "killed, though it never was");
	cr_assert_not(world.synced);
	world_end();
}
