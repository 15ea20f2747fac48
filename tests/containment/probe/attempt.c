#include "attempt.h"

#include "guard.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATIENCE = 10 }; /* seconds of one attempt */

int outcome_of(long result)
{
	return result < 0 ? errno : OUTCOME_OPEN;
}

int outcome_of_fd(int fd)
{
	if (fd < 0)
		return errno;
	close(fd);
	return OUTCOME_OPEN;
}

int attempt_call(const struct probe *probe)
{
	const unsigned long *argument = probe->arguments;
	return outcome_of(
		syscall(probe->number, argument[0], argument[1], argument[2], argument[3], argument[4], argument[5]));
}

/* A FIFO or a terminal without a peer must not hold the probe up. What leads to /dev/null is masked by it. */
int attempt_open(const struct probe *probe)
{
	struct stat status;
	int fd = open(probe->path, (int)probe->number | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0600);
	if (fd < 0)
		return errno;
	bool is_mask = fstat(fd, &status) == 0 && S_ISCHR(status.st_mode) && status.st_rdev == makedev(1, 3);
	close(fd);
	return is_mask ? OUTCOME_NOTHING : OUTCOME_OPEN;
}

int attempt_read(const struct probe *probe)
{
	char byte;
	int fd = open(probe->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return errno;
	ssize_t length = read(fd, &byte, 1);
	int outcome = length < 0 ? errno : length == 0 ? OUTCOME_NOTHING : OUTCOME_OPEN;
	close(fd);
	return outcome;
}

int attempt_list(const struct probe *probe)
{
	DIR *directory = opendir(probe->path);
	if (!directory)
		return errno;
	int outcome = OUTCOME_NOTHING;
	for (struct dirent *entry; (entry = readdir(directory));)
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			outcome = OUTCOME_OPEN;
	closedir(directory);
	return outcome;
}

int attempt_absent(const struct probe *probe)
{
	struct stat status;
	return outcome_of(lstat(probe->path, &status));
}

/* ---- Running ---- */

static int attempt_here(const struct probe *probe)
{
	signal(SIGALRM, SIG_DFL);
	alarm(PATIENCE);
	int outcome = probe->run(probe);
	alarm(0);
	return outcome;
}

/* Whatever the child left behind, in its process group or out of it, is ended: this process is its subreaper. */
static void end_descendants(pid_t group)
{
	kill(-group, SIGKILL);
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
}

static int attempt_in_child(const struct probe *probe)
{
	int *told = mmap(NULL, sizeof *told, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (told == MAP_FAILED)
		return OUTCOME_SKIPPED;
	*told = OUTCOME_SKIPPED;
	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0) {
		setsid(); /* also without a terminal, so that it can take one of its own */
		*told = attempt_here(probe);
		_exit(0);
	}
	int status = 0, outcome = OUTCOME_SKIPPED; /* without a child there was no attempt */
	if (pid > 0 && waitpid(pid, &status, 0) == pid)
		outcome = WIFSIGNALED(status) ? KILLED(WTERMSIG(status)) : *told;
	if (pid > 0)
		end_descendants(pid);
	munmap(told, sizeof *told);
	return outcome;
}

bool attempt_can_fork(void)
{
	pid_t pid = fork();
	if (pid == 0)
		_exit(0);
	if (pid > 0)
		waitpid(pid, NULL, 0);
	return pid > 0;
}

int attempt_run(const struct probe *probe, bool in_place)
{
	bool is_refused = (probe->flags & PROBE_GRAVE) && guard_refusal_of_grave();
	bool lacks_child = (probe->flags & PROBE_FORKS) && in_place;
	if (is_refused || lacks_child)
		return OUTCOME_SKIPPED;
	if (!in_place)
		return attempt_in_child(probe);
	int outcome = attempt_here(probe);
	close_range(STDERR_FILENO + 1, UINT_MAX, 0); /* what it left open, the next ones would find */
	return outcome;
}

bool attempt_is_expected(const struct probe *probe, int outcome)
{
	for (int i = 0; i < PROBE_EXPECTED && probe->expected[i]; i++)
		if (probe->expected[i] == outcome)
			return true;
	return false;
}

void outcome_text(int outcome, char *text)
{
	const char *name = NULL;
	if (outcome == OUTCOME_OPEN)
		name = "open";
	else if (outcome == OUTCOME_SKIPPED)
		name = "skipped";
	else if (outcome == OUTCOME_NOTHING)
		name = "nothing";
	else if (outcome < OUTCOME_SIGNAL)
		name = strerrorname_np(outcome);
	if (name)
		snprintf(text, OUTCOME_TEXT, "%s", name);
	else if (outcome >= OUTCOME_SIGNAL && sigabbrev_np(outcome - OUTCOME_SIGNAL))
		snprintf(text, OUTCOME_TEXT, "SIG%s", sigabbrev_np(outcome - OUTCOME_SIGNAL));
	else
		snprintf(text, OUTCOME_TEXT, "%d", outcome);
}

void expected_text(const int expected[PROBE_EXPECTED], char *text)
{
	char *at = text;
	*at = '\0';
	for (int i = 0; i < PROBE_EXPECTED && expected[i]; i++) {
		if (i > 0)
			*at++ = '|';
		outcome_text(expected[i], at);
		at += strlen(at);
	}
}
