/*
 * cgroup_kill_each.c: a process id read from cgroup.procs may belong to somebody else by the time it is used. So:
 * read the list, open a pidfd for each, read the list again, and signal only those that still stand in it. If an id
 * was used again between, its pidfd refers to the dead one, and the signal goes nowhere.
 */
#include "cgroup_driver.h"
#include "cgroup_file.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { BATCH = 256, ROUNDS = 8, LIST_BYTES = 64 * 1024 };

struct victim {
	pid_t pid;
	int pidfd;
};

static size_t read_pids(const char *text, struct victim victims[BATCH])
{
	size_t count = 0;
	for (char *end; count < BATCH; text = end) {
		long pid = strtol(text, &end, 10);
		if (end == text)
			break;
		if (pid > 0) /* 0 is a process outside of our own pid namespace */
			victims[count++] = (struct victim){.pid = (pid_t)pid, .pidfd = -1};
	}
	return count;
}

static bool stands_in(const char *text, pid_t pid)
{
	for (char *end;; text = end) {
		long other = strtol(text, &end, 10);
		if (end == text)
			return false;
		if (other == pid)
			return true;
	}
}

/* Returns how many stood there. */
static int kill_batch(int dir, char *text, struct error *err)
{
	if (cgroup_read(dir, "cgroup.procs", text, LIST_BYTES, err) < 0)
		return -1;
	struct victim victims[BATCH];
	size_t count = read_pids(text, victims);
	for (size_t i = 0; i < count; i++)
		victims[i].pidfd = (int)syscall(SYS_pidfd_open, victims[i].pid, 0);
	bool known = cgroup_read(dir, "cgroup.procs", text, LIST_BYTES, err) >= 0;
	for (size_t i = 0; i < count; i++) {
		if (victims[i].pidfd < 0)
			continue;
		if (known && stands_in(text, victims[i].pid))
			syscall(SYS_pidfd_send_signal, victims[i].pidfd, SIGKILL, NULL, 0);
		close(victims[i].pidfd);
	}
	return known ? (int)count : -1;
}

int cgroup_kill_each(int dir, struct error *err)
{
	char *text = malloc(LIST_BYTES);
	if (!text)
		abort();
	int count = 1;
	for (int round = 0; count > 0 && round < ROUNDS; round++)
		count = kill_batch(dir, text, err);
	free(text);
	return count < 0 ? -1 : 0;
}
