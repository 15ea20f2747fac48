/* A process's tree without cgroups: whatever its descendants do, it is found and ended. */
#include "gateway.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* It writes the ids of three survivors: one that ignores TERM, one in a session of its own, one forked twice. */
static const char *const survivors[] = {"/bin/sh", "-c",
                                        "(trap '' TERM; sh -c 'echo $$; exec sleep 300') & "
                                        "(setsid sh -c 'echo $$; sh -c \"sleep 300 & echo \\$!; wait\"' &) ; "
                                        "sleep 0.3; exit 3",
                                        NULL};

static size_t read_ids(const char *text, pid_t ids[8])
{
	size_t count = 0;
	for (char *end; count < 8; text = end) {
		long id = strtol(text, &end, 10);
		if (end == text)
			break;
		ids[count++] = (pid_t)id;
	}
	return count;
}

static size_t count_alive(const pid_t *ids, size_t count)
{
	size_t alive = 0;
	for (size_t i = 0; i < count; i++)
		alive += kill(ids[i], 0) == 0;
	return alive;
}

/* The survivors hold stdout, so that it does not end: what is there by now. */
static void read_some(int fd, char *text, size_t size)
{
	ssize_t got = read(fd, text, size - 1);
	text[got > 0 ? got : 0] = '\0';
}

static size_t start_survivors(struct gateway *gateway, uint32_t number, const char *leaf, pid_t ids[8])
{
	char text[256];
	const struct command command = {
		.process = number,
		.argv = survivors,
		.flags = leaf ? 0 : INIT_SUBREAPER,
		.leaf = leaf,
	};
	gateway_start(gateway, &command);
	struct answer started = gateway_expect(gateway, INIT_STARTED, number);
	cr_expect_eq(gateway_expect(gateway, INIT_EXITED, number).message.value, 3 << 8, "its end is not held up by them");
	read_some(started.fds[0], text, sizeof text);
	answer_close(&started);
	return read_ids(text, ids);
}

Test(init_trees, killing_means_everything_that_descends)
{
	struct gateway gateway;
	pid_t ids[8], others[8];
	gateway_open(&gateway);
	size_t other_count = start_survivors(&gateway, 1, NULL, others);
	size_t count = start_survivors(&gateway, 2, NULL, ids);
	cr_assert_eq(count, 3);
	cr_assert_eq(count_alive(ids, count), 3);
	gateway_request(&gateway, INIT_KILL_TREE, 2, 0, 0);
	gateway_expect(&gateway, INIT_KILLED, 2);
	cr_expect_eq(count_alive(ids, count), 0);
	cr_expect_eq(count_alive(others, other_count), other_count, "another process's are untouched");

	gateway_request(&gateway, INIT_KILL_TREE, 2, 0, 0);
	gateway_expect(&gateway, INIT_KILLED, 2); /* and again, when nothing is left */
	gateway_request(&gateway, INIT_FORGET, 1, 0, 0);
	for (int i = 0; i < 500 && count_alive(others, other_count) > 0; i++)
		gateway_turn(&gateway, 10);
	cr_expect_eq(count_alive(others, other_count), 0, "what a forgotten process left is ended");
	gateway_close(&gateway);
}

Test(init_trees, a_signal_reaches_the_whole_tree)
{
	struct gateway gateway;
	pid_t ids[8];
	gateway_open(&gateway);
	size_t count = start_survivors(&gateway, 1, NULL, ids);
	gateway_request(&gateway, INIT_SIGNAL, 1, SIGTERM, INIT_SCOPE_TREE);
	for (int i = 0; i < 100 && count_alive(ids, count) > 1; i++)
		gateway_turn(&gateway, 10);
	cr_expect_eq(count_alive(ids, count), 1, "only the one that ignores TERM is left");
	gateway_request(&gateway, INIT_SIGNAL, 1, SIGKILL, INIT_SCOPE_TREE);
	for (int i = 0; i < 100 && count_alive(ids, count) > 0; i++)
		gateway_turn(&gateway, 10);
	cr_expect_eq(count_alive(ids, count), 0);
	gateway_close(&gateway);
}

/* An empty cgroup of whatever hierarchy there is; NULL where this host lets us make none. */
static const char *make_leaf(void)
{
	static const char *const roots[] = {"/sys/fs/cgroup/unified", "/sys/fs/cgroup/freezer", "/sys/fs/cgroup/pids",
	                                    "/sys/fs/cgroup"};
	static char path[128], procs[160];
	for (size_t i = 0; i < sizeof roots / sizeof *roots; i++) {
		snprintf(path, sizeof path, "%s/sandbar-test-init-%d", roots[i], (int)getpid());
		snprintf(procs, sizeof procs, "%s/cgroup.procs", path);
		if (mkdir(path, 0755) == 0 && access(procs, W_OK) == 0)
			return path;
		rmdir(path);
	}
	return NULL;
}

Test(init_trees, with_cgroups_a_tree_is_its_leaf)
{
	struct gateway gateway;
	pid_t ids[8];
	const char *leaf = make_leaf();
	if (!leaf)
		cr_skip_test("this host lets us make no cgroup");
	gateway_open(&gateway);
	size_t count = start_survivors(&gateway, 1, leaf, ids);
	cr_assert_eq(count, 3);
	gateway_request(&gateway, INIT_SIGNAL, 1, SIGTERM, INIT_SCOPE_TREE);
	for (int i = 0; i < 100 && count_alive(ids, count) > 1; i++)
		gateway_turn(&gateway, 10);
	cr_expect_eq(count_alive(ids, count), 1, "only the one that ignores TERM is left");
	gateway_request(&gateway, INIT_KILL_TREE, 1, 0, 0);
	gateway_expect(&gateway, INIT_KILLED, 1);
	for (int i = 0; i < 100 && count_alive(ids, count) > 0; i++)
		gateway_turn(&gateway, 10);
	cr_expect_eq(count_alive(ids, count), 0);
	gateway_close(&gateway);
	cr_expect_eq(rmdir(leaf), 0);
}

/* Forks as fast as it can, but for not longer than two seconds and never more than a few at once. */
Test(init_trees, one_that_forks_while_it_is_killed_ends_too)
{
	struct gateway gateway;
	gateway_open(&gateway);
	gateway_start(&gateway,
	              &(struct command){.process = 1,
	                                .flags = INIT_SUBREAPER,
	                                .argv = SHELL("i=0; while [ $i -lt 400 ]; do (sleep 1 &) ; i=$((i+1)); done")});
	struct answer started = gateway_expect(&gateway, INIT_STARTED, 1);
	for (int i = 0; i < 20; i++)
		gateway_turn(&gateway, 5);
	gateway_request(&gateway, INIT_KILL_TREE, 1, 0, 0);
	cr_expect_eq(gateway_expect(&gateway, INIT_EXITED, 1).message.value, SIGKILL);
	gateway_expect(&gateway, INIT_KILLED, 1);
	answer_close(&started);
	gateway_close(&gateway);
}

Test(init_trees, one_whose_parent_is_killed_is_lost)
{
	struct gateway gateway;
	gateway_open(&gateway);
	gateway_start(&gateway,
	              &(struct command){.process = 1, .argv = SHELL("sleep 300 & wait"), .flags = INIT_SUBREAPER});
	struct answer started = gateway_expect(&gateway, INIT_STARTED, 1);
	pid_t leader = gateway.init->table.rows[0].note->leader;
	kill(gateway.init->table.rows[0].child, SIGSTOP); /* init lets it go on */
	for (int i = 0; i < 10; i++)
		gateway_turn(&gateway, 5);
	kill(gateway.init->table.rows[0].child, SIGKILL);
	struct answer exited = gateway_expect(&gateway, INIT_EXITED, 1);
	cr_expect(exited.message.flags & INIT_LOST);
	cr_expect_neq(exited.message.value, 0);
	for (int i = 0; i < 100 && kill(leader, 0) == 0; i++)
		gateway_turn(&gateway, 10);
	cr_expect_eq(kill(leader, 0), -1, "a lost leader does not run on");
	gateway_request(&gateway, INIT_KILL_TREE, 1, 0, 0);
	struct answer refused = gateway_expect(&gateway, INIT_REFUSED, 1);
	cr_expect_eq(refused.message.flags, ECHILD);
	answer_close(&started);
	gateway_close(&gateway);
}

/* That nothing of a process lives is told without being asked, after the last of it is gone: what it left behind counts. */
Test(init_trees, an_empty_one_is_told)
{
	struct gateway gateway;
	pid_t ids[8];
	gateway_open(&gateway);
	gateway_start(&gateway, &(struct command){.process = 1, .argv = SHELL("exit 3"), .flags = INIT_SUBREAPER});
	struct answer started = gateway_expect(&gateway, INIT_STARTED, 1);
	cr_expect_eq(gateway_expect(&gateway, INIT_EXITED, 1).message.value, 3 << 8);
	gateway_expect(&gateway, INIT_EMPTY, 1);
	answer_close(&started);

	size_t count = start_survivors(&gateway, 2, NULL, ids);
	cr_assert_eq(count, 3);
	cr_expect_eq(gateway_receive(&gateway, 300).message.type, 0, "it is not empty: its survivors live");
	for (size_t i = 0; i < count; i++)
		kill(ids[i], SIGKILL);
	gateway_expect(&gateway, INIT_EMPTY, 2);
	cr_expect_eq(gateway_receive(&gateway, 100).message.type, 0, "told once");

	gateway.epoch++;
	gateway_request(&gateway, INIT_SYNC, 0, 0, 0);
	gateway_expect(&gateway, INIT_SYNCED, 0);
	for (uint32_t number = 1; number <= 2; number++) {
		started = gateway_expect(&gateway, INIT_STARTED, number);
		answer_close(&started);
		gateway_expect(&gateway, INIT_EXITED, number);
		gateway_expect(&gateway, INIT_EMPTY, number); /* the next gateway hears it, too */
	}
	gateway_expect(&gateway, INIT_SYNC_DONE, 0);
	gateway_close(&gateway);
}

/* Who would have seen the last of it go was killed: nobody says that it is gone. */
Test(init_trees, one_whose_parent_is_killed_after_it_has_exited_is_not_told_empty)
{
	struct gateway gateway;
	pid_t ids[8];
	gateway_open(&gateway);
	size_t count = start_survivors(&gateway, 1, NULL, ids);
	cr_assert_eq(count, 3);
	kill(gateway.init->table.rows[0].child, SIGKILL);
	for (int i = 0; i < 500 && gateway.init->table.rows[0].child != 0; i++)
		gateway_turn(&gateway, 10);
	cr_expect_eq(gateway_receive(&gateway, 200).message.type, 0);
	cr_expect_eq(count_alive(ids, count), count);
	for (size_t i = 0; i < count; i++)
		kill(ids[i], SIGKILL);
	gateway_close(&gateway);
}

Test(init_trees, thousands_of_orphans_are_reaped)
{
	struct gateway gateway;
	char text[64];
	gateway_open(&gateway);
	const struct command command = {
		.process = 1,
		.argv = SHELL("i=0; while [ $i -lt 2000 ]; do (: &) ; i=$((i+1)); done"),
	};
	cr_expect_eq(gateway_run(&gateway, &command, text, sizeof text).value, 0);
	for (int i = 0; i < 500 && waitid(P_ALL, 0, &(siginfo_t){0}, WEXITED | WNOHANG | WNOWAIT) == 0; i++)
		gateway_turn(&gateway, 10);
	cr_expect_eq(errno, ECHILD);
	gateway_close(&gateway);
}
