/*
 * A command in a bash that is at its prompt, over two pipes: `:` and a line that comes back. No server, no sandbox.
 */
#include "measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { WARM_UP = 20 };

static void start_bash(int *commands, int *answers)
{
	static char *const argv[] = {"bash", "--norc", "--noprofile", "--noediting", "-i", NULL};
	int in[2], out[2];
	if (pipe(in) < 0 || pipe(out) < 0)
		die("pipe");
	pid_t pid = fork();
	if (pid < 0)
		die("fork");
	if (pid == 0) {
		setsid();
		if (dup2(in[0], STDIN_FILENO) < 0 || dup2(out[1], STDOUT_FILENO) < 0 || !freopen("/dev/null", "w", stderr))
			die("dup2");
		close(in[1]);
		close(out[0]);
		execvp(argv[0], argv);
		die("bash");
	}
	close(in[0]);
	close(out[1]);
	*commands = in[1];
	*answers = out[0];
}

static uint64_t run_once(int commands, int answers)
{
	static const char command[] = ":\necho $?\n";
	char answer[2];
	uint64_t begin = now_ns();
	if (write(commands, command, sizeof command - 1) < 0)
		die("write");
	for (size_t got = 0; got < sizeof answer;) {
		ssize_t now = read(answers, answer + got, sizeof answer - got);
		if (now <= 0)
			die("read");
		got += (size_t)now;
	}
	return now_ns() - begin;
}

int main(int argc, char **argv)
{
	uint64_t runs = 2000;
	const struct option_row options[] = {{"--runs", &runs, "how often"}, {NULL, NULL, NULL}};
	struct samples samples;
	int commands, answers;
	options_read(argc, argv, options);
	samples_init(&samples, runs);
	start_bash(&commands, &answers);
	for (int i = 0; i < WARM_UP; i++)
		run_once(commands, answers);
	for (uint64_t i = 0; i < runs; i++)
		samples_add(&samples, run_once(commands, answers));
	samples_print(&samples, "bash");
	samples_finish(&samples);
	return 0;
}
