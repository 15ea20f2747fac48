#include "server.h"

#include "tests/bench/bare/measure.h"

#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WAIT_MS = 20000, STEP_MS = 5 };

static pid_t server_pid;
static char state[] = "/tmp/sandbar-bench-XXXXXX";

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *place)
{
	(void)status, (void)kind, (void)place;
	return remove(path);
}

static void stop(void)
{
	if (server_pid > 0) {
		kill(server_pid, SIGTERM);
		waitpid(server_pid, NULL, 0);
	}
	nftw(state, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static void program_path(char path[PATH_MAX])
{
	const char *directory = getenv("SANDBAR_BIN");
	if (directory) {
		snprintf(path, PATH_MAX, "%s/sandbard", directory);
		return;
	}
	char self[PATH_MAX - 32];
	ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
	if (length < 0)
		die("readlink `/proc/self/exe`");
	self[length] = '\0';
	*strrchr(self, '/') = '\0';
	snprintf(path, PATH_MAX, "%s/../../bin/sandbard", self);
}

static pid_t execute(const char *program)
{
	pid_t parent = getpid(), pid = fork();
	if (pid < 0)
		die("fork");
	if (pid > 0)
		return pid;
	int null = open("/dev/null", O_WRONLY);
	if (prctl(PR_SET_PDEATHSIG, SIGTERM) == 0 && getppid() == parent && null >= 0 && dup2(null, STDOUT_FILENO) >= 0)
		execl(program, "sandbard", "--listen", "127.0.0.1:0", "--state", state, "--log-level", "warn", NULL);
	_exit(127);
}

/* The first line of the file NAME of the state directory; false while it is not there. */
static bool read_line(const char *name, char text[SERVER_TEXT])
{
	char path[sizeof state + 32];
	snprintf(path, sizeof path, "%s/%s", state, name);
	FILE *file = fopen(path, "re");
	bool good = file && fgets(text, SERVER_TEXT, file);
	if (file)
		fclose(file);
	if (good)
		text[strcspn(text, "\n")] = '\0';
	return good && text[0] != '\0';
}

static void await(struct server *server)
{
	for (int waited = 0; waited < WAIT_MS; waited += STEP_MS) {
		if (read_line("address", server->address) && read_line("owner.token", server->token))
			return;
		if (waitpid(server_pid, NULL, WNOHANG) == server_pid) {
			server_pid = 0;
			break;
		}
		usleep(STEP_MS * 1000);
	}
	fprintf(stderr, "the server did not start\n");
	exit(1);
}

void server_start(struct server *server)
{
	char program[PATH_MAX];
	program_path(program);
	if (!mkdtemp(state))
		die("mkdtemp");
	atexit(stop);
	server_pid = execute(program);
	await(server);
}
