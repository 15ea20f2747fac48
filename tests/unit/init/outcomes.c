/* What comes of a command: it ran and how it ended, or why it could not be started. */
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

static void put_file(const char *path, const char *text, mode_t mode)
{
	FILE *file = fopen(path, "w");
	fputs(text, file);
	fclose(file);
	chmod(path, mode);
}

static const struct {
	const char *const *argv;
	int code, signal;
} endings[] = {
	{ARGV("true"), 0, 0},
	{ARGV("/bin/false"), 1, 0},
	{SHELL("exit 137"), 137, 0},
	{SHELL("kill -9 $$"), 0, SIGKILL},
	{SHELL("kill -SEGV $$"), 0, SIGSEGV},
	{SHELL("kill -PIPE $$; exit 3"), 0, SIGPIPE},
};

Test(init_outcomes, an_ending_is_told_as_it_was)
{
	struct gateway gateway;
	char text[256];
	for (unsigned mode = 0; mode < 2; mode++) {
		gateway_open(&gateway);
		for (uint32_t i = 0; i < sizeof endings / sizeof *endings; i++) {
			const struct command command = {
				.process = i + 1,
				.argv = endings[i].argv,
				.flags = mode ? INIT_SUBREAPER : 0,
			};
			int status = gateway_run(&gateway, &command, text, sizeof text).value;
			cr_expect_eq(WIFEXITED(status) ? WEXITSTATUS(status) : 0, endings[i].code, "%u", i);
			cr_expect_eq(WIFSIGNALED(status) ? WTERMSIG(status) : 0, endings[i].signal, "%u", i);
		}
		gateway_close(&gateway);
	}
}

/* A folder with a file that may not be executed, a script without `#!`, and a folder of its own. */
static const char *make_folder(void)
{
	static char folder[] = "/tmp/init-test-XXXXXX";
	cr_assert_not_null(mkdtemp(folder));
	cr_assert_eq(chdir(folder), 0);
	put_file("plain", "x", 0644);
	put_file("script", "echo \"$0 $# $2\"\n", 0755);
	put_file("broken", "#!/nowhere/at/all\n", 0755);
	mkdir("folder", 0755);
	return folder;
}

static void remove_folder(const char *folder)
{
	const char *const names[] = {"plain", "script", "broken"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		unlink(names[i]);
	rmdir("folder");
	rmdir(folder);
}

Test(init_outcomes, what_cannot_start_says_why)
{
	const char *folder = make_folder();
	char path[64], path_variable[128], huge[160 * 1024];
	snprintf(path, sizeof path, "%s/plain", folder);
	snprintf(path_variable, sizeof path_variable, "PATH=/nowhere:%s:/usr/bin", folder);
	memset(huge, 'x', sizeof huge);
	huge[sizeof huge - 1] = '\0';
	const char *const here[] = {path_variable, NULL};
	const struct {
		const char *const *argv;
		const char *cwd;
		int errnum;
		uint32_t phase;
	} rows[] = {
		{ARGV("no-such-command"), "/", ENOENT, INIT_PHASE_EXEC},
		{ARGV("/no/such/command"), "/", ENOENT, INIT_PHASE_EXEC},
		{ARGV(""), "/", ENOENT, INIT_PHASE_EXEC},
		{ARGV("plain"), "/", EACCES, INIT_PHASE_EXEC},
		{ARGV("folder"), "/", EACCES, INIT_PHASE_EXEC},
		{ARGV("broken"), "/", ENOENT, INIT_PHASE_EXEC},
		{ARGV("true", huge), "/", E2BIG, INIT_PHASE_EXEC},
		{ARGV("true"), "/no/such/directory", ENOENT, INIT_PHASE_CWD},
		{ARGV("true"), path, ENOTDIR, INIT_PHASE_CWD},
		{ARGV("true"), "/proc/self/fd/3", ENOTDIR, INIT_PHASE_CWD},
		{ARGV("true"), "/proc/self/fd/4", ENOENT, INIT_PHASE_CWD},
	};
	struct gateway gateway;
	gateway_open(&gateway);
	for (uint32_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct command command = {
			.process = i + 1,
			.argv = rows[i].argv,
			.envp = here,
			.cwd = rows[i].cwd,
			.flags = i % 2 ? INIT_SUBREAPER : 0,
		};
		gateway_start(&gateway, &command);
		struct answer failed = gateway_expect(&gateway, INIT_START_FAILED, i + 1);
		cr_expect_eq(failed.message.value, rows[i].errnum, "row %u: errno %d", i, failed.message.value);
		cr_expect_eq(failed.message.phase, rows[i].phase, "row %u: phase %u", i, failed.message.phase);
		cr_expect_eq(failed.fd_count, 0);
	}
	gateway_close(&gateway);
	remove_folder(folder);
}

Test(init_outcomes, the_search_is_that_of_execvp)
{
	const char *folder = make_folder();
	char path[64], here[64], text[256], expected[256];
	snprintf(path, sizeof path, "%s/script", folder);
	snprintf(here, sizeof here, "PATH=:%s", folder);
	const struct {
		const char *const *argv, *const *envp;
		const char *expected;
	} rows[] = {
		{ARGV(path, "a", "b c"), ARGV("PATH=/usr/bin"), "%s/script 2 b c\n"},
		{ARGV("script", "a", "b c"), ARGV(here), "%s/script 2 b c\n"},
		{ARGV("echo", "found"), ARGV("HOME=/"), "found\n"}, /* the default PATH */
		{ARGV("echo", "found"), ARGV("PATH=/proc/1/fd:/etc/passwd:/bin"), "found\n"},
	};
	struct gateway gateway;
	gateway_open(&gateway);
	for (uint32_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct command command = {.process = i + 1, .argv = rows[i].argv, .envp = rows[i].envp};
		cr_expect_eq(gateway_run(&gateway, &command, text, sizeof text).value, 0);
		snprintf(expected, sizeof expected, rows[i].expected, folder);
		cr_expect_str_eq(text, expected);
	}
	gateway_close(&gateway);
	remove_folder(folder);
}

Test(init_outcomes, the_usage_is_the_leaders)
{
	struct gateway gateway;
	char text[64];
	gateway_open(&gateway);
	const struct command command = {
		.process = 1,
		.argv = SHELL("i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done"),
	};
	struct init_message exited = gateway_run(&gateway, &command, text, sizeof text);
	cr_expect_gt(exited.user_us + exited.system_us, 1000);
	cr_expect_gt(exited.max_rss, 100 * 1024);
	gateway_close(&gateway);
}

Test(init_outcomes, a_signal_reaches_the_leader_until_it_has_exited)
{
	struct gateway gateway;
	gateway_open(&gateway);
	for (uint32_t i = 1; i <= 2; i++) {
		gateway_start(&gateway, &(struct command){
									.process = i, .argv = ARGV("sleep", "60"), .flags = i == 1 ? 0 : INIT_SUBREAPER});
		struct answer started = gateway_expect(&gateway, INIT_STARTED, i);
		answer_close(&started);
		gateway_request(&gateway, INIT_SIGNAL, i, SIGTERM, 0);
		cr_expect_eq(gateway_expect(&gateway, INIT_EXITED, i).message.value, SIGTERM);
		if (i == 2)
			gateway_expect(&gateway, INIT_EMPTY, i);
		gateway_request(&gateway, INIT_SIGNAL, i, SIGKILL, 0);
		cr_expect_eq(gateway_receive(&gateway, 50).message.type, 0);
	}
	gateway_close(&gateway);
}

/* The socket takes some 200 messages: here nobody reads until all have ended. */
Test(init_outcomes, five_hundred_quick_ones_are_all_told)
{
	enum { COUNT = 500 };
	struct gateway gateway;
	gateway_open(&gateway);
	for (uint32_t i = 1; i <= COUNT; i++) {
		gateway_start(&gateway, &(struct command){.process = i, .argv = ARGV("/bin/true")});
		gateway_turn(&gateway, 0);
		while (gateway.init->table.queue_count > 40)
			gateway_turn(&gateway, 1);
		if (gateway.init->is_blocked)
			break;
	}
	cr_assert(gateway.init->is_blocked, "the socket never was full");
	uint32_t started = 0, exited = 0, asked = (uint32_t)gateway.init->table.count;
	while (exited < asked) {
		struct answer answer = gateway_receive(&gateway, PATIENCE_MS);
		cr_assert_neq(answer.message.type, 0);
		if (answer.message.type == INIT_STARTED)
			cr_assert_eq(answer.message.process, ++started, "answers keep the order of the requests");
		exited += answer.message.type == INIT_EXITED;
		answer_close(&answer);
	}
	cr_expect_eq(started, exited);
	gateway_close(&gateway);
}
