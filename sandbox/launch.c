#include "launch.h"
#include "root_tree.h"
#include "sandbox/init/boot.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { SYNC_CHILD, SYNC_PARENT };

struct ends {
	int tree;
	int sync[2];
	int report[2];
};

struct timespec launch_deadline(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	now.tv_sec += LAUNCH_SECONDS;
	return now;
}

int launch_time_left(const struct timespec *deadline)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	int64_t ms = (int64_t)(deadline->tv_sec - now.tv_sec) * 1000 + (deadline->tv_nsec - now.tv_nsec) / 1000000;
	return ms > 0 ? (int)ms : 0;
}

static void close_ends(struct ends *ends)
{
	int *const all[] = {&ends->tree, &ends->sync[0], &ends->sync[1], &ends->report[0], &ends->report[1]};
	for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
		if (*all[i] >= 0)
			close(*all[i]);
		*all[i] = -1;
	}
}

static int open_ends(struct ends *ends, const struct sandbox_host *host, struct error *err)
{
	*ends = (struct ends){-1, {-1, -1}, {-1, -1}};
	ends->tree = root_tree_clone(host->staging, err);
	if (ends->tree < 0)
		return -1;
	if (pipe2(ends->sync, O_CLOEXEC) < 0 || pipe2(ends->report, O_CLOEXEC) < 0)
		return error_set(err, errno, "pipe");
	return 0;
}

static bool has_v1(const struct launch *launch)
{
	return launch->groups && cgroup_session_has_v1(launch->groups);
}

/* Where the users' processes are 0 inside, init is somebody else: the same id could signal it, or own what is its own. */
static uint32_t id_of_init(const struct launch *launch, uint32_t user)
{
	if (!launch->host->has_ranges)
		return user;
	return user == 0 ? INIT_ASIDE_ID : 0;
}

static int start_child(struct launch *launch, struct ends *ends, struct error *err)
{
	struct clone_args args = {
		.flags = CHILD_NAMESPACES | CLONE_PIDFD | CLONE_CLEAR_SIGHAND,
		.pidfd = (uintptr_t)&launch->pidfd,
		.exit_signal = SIGCHLD,
	};
	if (launch->cgroup >= 0) {
		args.flags |= CLONE_INTO_CGROUP;
		args.cgroup = (unsigned)launch->cgroup;
	}
	const uint32_t user = inner_user_id((enum inner_user)launch->limits->user);
	pid_t pid = (pid_t)syscall(SYS_clone3, &args, sizeof args);
	if (pid < 0) {
		launch->pidfd = -1;
		return error_set(err, errno, "clone3 into new namespaces");
	}
	if (pid == 0) {
		struct child_setup setup = {
			.host = launch->host,
			.hostname = launch->hostname,
			.limits = launch->limits,
			.user = user,
			.init = id_of_init(launch, user),
			.tree = ends->tree,
			.sync = ends->sync[SYNC_CHILD],
			.report = ends->report[1],
			.socket = launch->socket,
			.proc = -1,
			.init_proc = -1,
			.waits_for_groups = has_v1(launch),
		};
		/* Else the end of the parent would not be seen. */
		close(ends->sync[SYNC_PARENT]);
		close(ends->report[0]);
		child_run(&setup);
	}
	launch->pid = pid;
	return 0;
}

/* A lowered oom_score_adj would lower, too, how far whoever inherits it may go: a user's process could then make itself
 * what the kernel never kills. The old name of the same value, oom_adj, sets the value alone (fs/proc/base.c); -17 is
 * its OOM_DISABLE. It needs CAP_SYS_RESOURCE on the host, which the child in its namespace does not have. */
static int spare(struct launch *launch, struct error *err)
{
	bool is_trial = launch->socket < 0;
	if (!is_trial && !launch->host->report.layers[LAYER_OOM].on)
		return 0;
	char path[48];
	snprintf(path, sizeof path, "/proc/%d/oom_adj", (int)launch->pid);
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	launch->is_spared = fd >= 0 && write(fd, "-17", 3) == 3;
	int errnum = errno;
	if (fd >= 0)
		close(fd);
	return launch->is_spared || is_trial ? 0 : error_set(err, errnum, "write `%s`", path);
}

/* Not write(2) alone: a child that died already must not end us by SIGPIPE. Its report says why. */
static int wake_child(const struct ends *ends, struct error *err)
{
	struct sigaction ignore = {.sa_handler = SIG_IGN}, before;
	sigaction(SIGPIPE, &ignore, &before);
	ssize_t n = write(ends->sync[SYNC_PARENT], "m", 1);
	sigaction(SIGPIPE, &before, NULL);
	return n == 1 || errno == EPIPE ? 0 : error_set(err, errno, "wake the child");
}

static int write_maps(const struct launch *launch, const struct ends *ends, struct error *err)
{
	if (!launch->host->has_ranges)
		return 0;
	return id_range_map(launch->pid, launch->block, err) < 0 ? -1 : wake_child(ends, err);
}

/* Moving a process on v1 takes half a millisecond: the child makes its mounts meanwhile. */
static int join_v1(const struct launch *launch, const struct ends *ends, struct error *err)
{
	if (!has_v1(launch))
		return 0;
	return cgroup_session_join_v1(launch->groups, launch->pid, err) < 0 ? -1 : wake_child(ends, err);
}

/* The pipe ends when init is executed. */
static int wait_for_report(struct launch *launch, struct ends *ends, struct error *err)
{
	struct pollfd pollfd = {.fd = ends->report[0], .events = POLLIN};
	int ready;
	do {
		ready = poll(&pollfd, 1, launch_time_left(&launch->deadline));
	} while (ready < 0 && errno == EINTR);
	if (ready == 0)
		return error_set(err, ETIMEDOUT, "set-up of the sandbox took over %d s", LAUNCH_SECONDS);
	ssize_t n = read(ends->report[0], &launch->report, sizeof launch->report);
	if (n == 0 && launch->socket >= 0)
		return 0;
	if (n != (ssize_t)sizeof launch->report)
		return error_set(err, n < 0 ? errno : 0, "the child ended without a report");
	if (launch->socket < 0)
		return 0;
	if (err)
		*err = launch->report.error;
	return -1;
}

int launch_run(struct launch *launch, struct error *err)
{
	struct ends ends;
	launch->pidfd = -1;
	int result = open_ends(&ends, launch->host, err);
	if (result == 0)
		result = start_child(launch, &ends, err);
	if (result == 0)
		result = spare(launch, err);
	if (result == 0)
		result = write_maps(launch, &ends, err);
	if (result == 0)
		result = join_v1(launch, &ends, err);
	if (result == 0) {
		close(ends.report[1]);
		ends.report[1] = -1;
		result = wait_for_report(launch, &ends, err);
	}
	close_ends(&ends);
	return result;
}
