/* What a process is given: streams, a terminal, its environment, and nothing else. */
#include "gateway.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

Test(init_streams, output_comes_by_its_own_pipe)
{
	struct gateway gateway;
	char text[64];
	gateway_open(&gateway);
	gateway_start(&gateway, &(struct command){.process = 1, .argv = SHELL("echo out; echo err >&2; cat")});
	struct answer started = gateway_expect(&gateway, INIT_STARTED, 1);
	cr_assert_eq(started.fd_count, 2);
	for (size_t i = 0; i < 2; i++) {
		cr_expect(fcntl(started.fds[i], F_GETFL) & O_NONBLOCK);
		gateway_drain(&gateway, started.fds[i], text, sizeof text);
		cr_expect_str_eq(text, i == 0 ? "out\n" : "err\n");
	}
	cr_expect_eq(gateway_expect(&gateway, INIT_EXITED, 1).message.value, 0);
	gateway_close(&gateway);
}

Test(init_streams, stdin_ends_when_both_ends_of_ours_are_closed)
{
	struct gateway gateway;
	char text[64];
	for (unsigned mode = 0; mode < 2; mode++) {
		gateway_open(&gateway);
		/* A second process runs meanwhile: it must not hold the first one's pipe open. */
		gateway_start(
			&gateway,
			&(struct command){.process = 1, .argv = ARGV("cat"), .flags = INIT_STDIN | (mode ? INIT_SUBREAPER : 0)});
		gateway_start(&gateway,
		              &(struct command){.process = 2, .argv = ARGV("sleep", "60"), .flags = mode ? INIT_SUBREAPER : 0});
		struct answer started = gateway_expect(&gateway, INIT_STARTED, 1);
		struct answer other = gateway_expect(&gateway, INIT_STARTED, 2);
		cr_assert_eq(started.fd_count, 3);
		cr_assert_eq(started.message.flags & INIT_STDIN, INIT_STDIN);
		cr_expect_eq(write(started.fds[2], "a", 1), 1);
		close(started.fds[2]);
		cr_expect_eq(gateway_receive(&gateway, 50).message.type, 0, "init holds an end of its own");
		gateway_request(&gateway, INIT_CLOSE_STDIN, 1, 0, 0);
		gateway_drain(&gateway, started.fds[0], text, sizeof text);
		close(started.fds[1]);
		cr_expect_str_eq(text, "a");
		cr_expect_eq(gateway_expect(&gateway, INIT_EXITED, 1).message.value, 0);
		gateway_request(&gateway, INIT_SIGNAL, 2, 9, 0);
		gateway_expect(&gateway, INIT_EXITED, 2);
		answer_close(&other);
		gateway_close(&gateway);
	}
}

/* A shell's commands and status come and go by pipes of their own; what it executes must not inherit those. */
Test(init_streams, a_shell_has_pipes_for_commands_and_status)
{
	static const char commands[] = "ls /proc/self/fd >&7; echo err >&8; echo status >&9; echo notice; exit 3\n";
	struct gateway gateway;
	char text[256];
	for (unsigned mode = 0; mode < 2; mode++) {
		gateway_open(&gateway);
		gateway_start(&gateway, &(struct command){.process = 1,
		                                          .argv = ARGV("bash", "--norc"),
		                                          .flags = INIT_SHELL | (mode ? INIT_SUBREAPER : 0)});
		struct answer started = gateway_expect(&gateway, INIT_STARTED, 1);
		cr_assert_eq(started.fd_count, 4);
		cr_expect_eq(started.message.flags & (INIT_SHELL | INIT_STDIN), INIT_SHELL);
		cr_expect_eq(write(started.fds[2], commands, strlen(commands)), (ssize_t)strlen(commands));
		gateway_drain(&gateway, started.fds[0], text, sizeof text);
		cr_expect_str_eq(text, "0\n1\n2\n3\n7\n8\n9\n");
		gateway_drain(&gateway, started.fds[1], text, sizeof text);
		cr_expect_str_eq(text, "err\n");
		gateway_drain(&gateway, started.fds[3], text, sizeof text);
		cr_expect_str_eq(text, "status\n");
		close(started.fds[2]);
		cr_expect_eq(gateway_expect(&gateway, INIT_EXITED, 1).message.value, 3 << 8);
		gateway_close(&gateway);
	}
}

Test(init_streams, a_terminal_has_its_size_and_controls_its_session)
{
	struct gateway gateway;
	char text[256];
	gateway_open(&gateway);
	const struct command command = {
		.process = 1,
		.flags = INIT_TERMINAL,
		.cols = 101,
		.rows = 37,
		.argv = SHELL("stty size; test -t 0 && test -t 1 && test -t 2 && echo tty >/dev/tty; stty -a | grep -o iutf8"),
	};
	cr_expect_eq(gateway_run(&gateway, &command, text, sizeof text).value, 0);
	cr_expect_str_eq(text, "37 101\r\ntty\r\niutf8\r\n");
	gateway_close(&gateway);
}

Test(init_streams, a_process_gets_exactly_what_it_was_given)
{
	const struct {
		const char *const *argv;
		const char *expected;
	} rows[] = {
		{ARGV("/usr/bin/env"), "PATH=/usr/bin:/bin\nTZ=UTC\n"},
		{SHELL("ls /proc/$$/fd"), "0\n1\n2\n"},
		{SHELL("readlink /proc/$$/fd/0; pwd; umask"), "/dev/null\n/tmp\n0022\n"},
		{SHELL("ulimit -n"), "256\n"},
		{SHELL("grep -E '^Sig(Blk|Ign)' /proc/self/status"), "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n"},
		{SHELL("test $(cut -d' ' -f6 /proc/$$/stat) = $$ && echo leads its session"), "leads its session\n"},
	};
	struct gateway gateway;
	char text[256];
	gateway_open(&gateway);
	int leaked = dup(0); /* a descriptor that somebody forgot to mark */
	for (uint32_t i = 0; i < 2 * sizeof rows / sizeof *rows; i++) {
		const struct command command = {
			.process = i + 1,
			.argv = rows[i / 2].argv,
			.envp = ARGV("PATH=/usr/bin:/bin", "TZ=UTC"),
			.cwd = "/tmp",
			.flags = i % 2 ? INIT_SUBREAPER : 0,
		};
		gateway_run(&gateway, &command, text, sizeof text);
		cr_expect_str_eq(text, rows[i / 2].expected);
	}
	close(leaked);
	gateway_close(&gateway);
}
