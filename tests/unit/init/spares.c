/* Children that wait in the leaf of a process to come: what START finds there runs, whatever became of it. */
#include "gateway.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static void prepare(struct gateway *gateway, uint32_t number)
{
	int leaf = open("/dev/null", O_WRONLY | O_CLOEXEC);
	const struct init_message message = {.type = INIT_PREPARE, .epoch = gateway->epoch, .process = number};
	gateway_send(gateway, message, &leaf, 1);
	gateway_turn(gateway, 100);
	close(leaf);
}

/* Init's children that are there, in the order of their making. */
static size_t children(pid_t ids[8])
{
	char path[64], text[256];
	snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)gettid());
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got = read(fd, text, sizeof text - 1);
	close(fd);
	text[got > 0 ? got : 0] = '\0';
	size_t count = 0;
	for (char *at = text, *end; count < 8; at = end) {
		long id = strtol(at, &end, 10);
		if (end == at)
			break;
		ids[count++] = (pid_t)id;
	}
	return count;
}

static pid_t run_and_tell_id(struct gateway *gateway, uint32_t number, uint32_t flags)
{
	char text[64];
	const struct command command = {
		.process = number, .argv = SHELL("echo $$"), .flags = flags, .cols = 80, .rows = 24};
	cr_expect_eq(gateway_run(gateway, &command, text, sizeof text).value, 0);
	return (pid_t)atoi(text);
}

/* Init with a spare for process 1, whose id is returned. */
static pid_t open_with_spare(struct gateway *gateway)
{
	pid_t ids[8];
	gateway_open(gateway);
	prepare(gateway, 1);
	cr_assert_eq(children(ids), 1);
	return ids[0];
}

static void await_children(struct gateway *gateway, size_t count)
{
	pid_t ids[8];
	for (int i = 0; i < 500 && children(ids) != count; i++)
		gateway_turn(gateway, 10);
	cr_assert_eq(children(ids), count);
}

Test(init_spares, the_one_that_waits_is_the_process)
{
	struct gateway gateway;
	pid_t ids[8];
	gateway_open(&gateway);
	prepare(&gateway, 1);
	prepare(&gateway, 2);
	cr_assert_eq(children(ids), 2);
	cr_expect_eq(run_and_tell_id(&gateway, 1, 0), ids[0]);
	cr_expect_eq(run_and_tell_id(&gateway, 2, INIT_TERMINAL), ids[1], "with a terminal as well");
	cr_expect_neq(run_and_tell_id(&gateway, 3, 0), 0, "and without one it is forked");
	gateway_close(&gateway);
}

Test(init_spares, what_cannot_be_executed_is_told_as_ever)
{
	struct gateway gateway;
	gateway_open(&gateway);
	prepare(&gateway, 1);
	gateway_start(&gateway, &(struct command){.process = 1, .argv = ARGV("/nowhere")});
	struct answer failed = gateway_expect(&gateway, INIT_START_FAILED, 1);
	cr_expect(failed.message.phase == INIT_PHASE_EXEC && failed.message.value == ENOENT);
	gateway_close(&gateway);
}

Test(init_spares, one_that_was_killed_is_not_missed)
{
	struct gateway gateway;
	pid_t spare = open_with_spare(&gateway);
	kill(spare, SIGKILL);
	await_children(&gateway, 0);
	cr_expect_neq(run_and_tell_id(&gateway, 1, 0), 0);
	gateway_close(&gateway);
}

Test(init_spares, one_that_is_stopped_goes_on)
{
	struct gateway gateway;
	pid_t spare = open_with_spare(&gateway);
	kill(spare, SIGSTOP);
	gateway_turn(&gateway, 100);
	cr_expect_eq(run_and_tell_id(&gateway, 1, 0), spare);
	gateway_close(&gateway);
}

/* The user's processes have lowered its limits: what comes with START does not reach it. */
Test(init_spares, one_that_cannot_become_the_process_is_a_failed_start)
{
	const struct rlimit few = {.rlim_cur = 4, .rlim_max = 4};
	struct gateway gateway;
	pid_t spare = open_with_spare(&gateway);
	cr_assert_eq(prlimit(spare, RLIMIT_NOFILE, &few, NULL), 0);
	gateway_start(&gateway, &(struct command){.process = 1, .argv = ARGV("/bin/true")});
	struct answer failed = gateway_expect(&gateway, INIT_START_FAILED, 1);
	cr_expect(failed.message.phase == INIT_PHASE_STREAMS && failed.message.value == EMFILE);
	gateway_close(&gateway);
}

Test(init_spares, those_that_were_left_out_end)
{
	struct gateway gateway;
	gateway_open(&gateway);
	prepare(&gateway, 1);
	prepare(&gateway, 2);
	prepare(&gateway, 3);
	run_and_tell_id(&gateway, 2, 0);
	await_children(&gateway, 1);
	gateway_close(&gateway);
	cr_expect_neq(wait(NULL), -1, "the last one ends with init");
}

/* Were its stdin held by somebody else, `cat` would never see its end. */
Test(init_spares, it_holds_nobodys_stream)
{
	struct gateway gateway;
	gateway_open(&gateway);
	gateway_start(&gateway, &(struct command){.process = 1, .argv = ARGV("/bin/cat"), .flags = INIT_STDIN});
	struct answer started = gateway_expect(&gateway, INIT_STARTED, 1);
	prepare(&gateway, 2);
	answer_close(&started);
	gateway_request(&gateway, INIT_CLOSE_STDIN, 1, 0, 0);
	gateway_expect(&gateway, INIT_EXITED, 1);
	gateway_close(&gateway);
}

static void expect_refused(struct gateway *gateway, int errnum)
{
	struct answer refused = gateway_receive(gateway, PATIENCE_MS);
	cr_expect(refused.message.type == INIT_REFUSED && refused.message.value == INIT_PREPARE);
	cr_expect_eq((int)refused.message.flags, errnum);
}

Test(init_spares, what_is_wrong_is_refused)
{
	struct gateway gateway;
	gateway_open(&gateway);
	gateway_request(&gateway, INIT_PREPARE, 1, 0, 0);
	expect_refused(&gateway, EBADF);
	prepare(&gateway, 0);
	expect_refused(&gateway, EINVAL);
	for (uint32_t number = 1; number <= SPARES; number++)
		prepare(&gateway, number);
	prepare(&gateway, 1);
	expect_refused(&gateway, EEXIST);
	prepare(&gateway, 9);
	expect_refused(&gateway, EAGAIN);
	gateway_close(&gateway);
}
