/*
 * box.c: one sandbox on the keeper's side: its ids, its cgroups, init's pidfd.
 */
#include "host.h"
#include "launch.h"
#include "sandbox/init/wire.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { UNDO_MILLISECONDS = 5000 };

struct leaf {
	uint32_t process;
	struct cgroup_group group;
};

struct sandbox_box {
	struct sandbox_host *host;
	int block; /* of ids, or -1 */
	int pidfd; /* of init, or -1 where none was started */
	pid_t pid; /* the same */
	bool reaped;
	bool has_groups;
	struct cgroup_session cgroups;
	struct leaf *leaves;
	size_t leaf_count, leaf_room;
};

static int check_layers(const struct sandbox_host *host, uint32_t required, struct error *err)
{
	for (int i = 0; i < LAYER_COUNT; i++) {
		const struct layer_status *status = &host->report.layers[i];
		if ((required & 1u << i) && !status->on)
			return error_set(err, EOPNOTSUPP, "layer `%s` is required, but: %s", layer_name((enum layer)i),
			                 status->detail);
	}
	return 0;
}

static int check_spec(const struct sandbox_host *host, const struct sandbox_spec *spec, struct error *err)
{
	const char *complaint = sandbox_limits_check(&spec->limits);
	if (complaint)
		return error_set(err, EINVAL, "%s", complaint);
	if (strspn(spec->session, "abcdefghijklmnopqrstuvwxyz234567") != SESSION_ID_LENGTH ||
	    spec->session[SESSION_ID_LENGTH] != '\0')
		return error_set(err, EINVAL, "session: %d characters of a-z2-7 are allowed", SESSION_ID_LENGTH);
	return check_layers(host, spec->required_layers, err);
}

static const char *cause_of_end(int pidfd)
{
	siginfo_t info = {0};
	if (waitid(P_PIDFD, (id_t)pidfd, &info, WEXITED | WNOHANG | WNOWAIT) < 0 || info.si_pid == 0)
		return "init closed its socket";
	return info.si_code == CLD_EXITED ? "init exited" : "init was killed";
}

/* Its first message says that it has confined itself. */
static int wait_until_ready(const struct launch *launch, int socket, struct error *err)
{
	struct pollfd pollfd = {.fd = socket, .events = POLLIN};
	int ready;
	do {
		ready = poll(&pollfd, 1, launch_time_left(&launch->deadline));
	} while (ready < 0 && errno == EINTR);
	if (ready == 0)
		return error_set(err, ETIMEDOUT, "init is not ready after %d s", LAUNCH_SECONDS);
	struct init_message message;
	ssize_t n = recv(socket, &message, sizeof message, MSG_DONTWAIT);
	if (n <= 0)
		return error_set(err, n < 0 ? errno : 0, "%s before it was ready", cause_of_end(launch->pidfd));
	if (n == (ssize_t)sizeof message && message.type == INIT_REFUSED)
		return error_set(err, (int)message.flags, "init, at step %d (boot.h)", message.value);
	if (n != (ssize_t)sizeof message || message.type != INIT_SYNCED || message.epoch != 0)
		return error_set(err, EPROTO, "init's first message is not SYNCED");
	return 0;
}

static int start_init(struct sandbox_box *box, const struct sandbox_spec *spec, int *init_socket, struct error *err)
{
	int pair[2];
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return error_set(err, errno, "socketpair");
	struct launch launch = {
		.host = box->host,
		.hostname = spec->session,
		.limits = &spec->limits,
		.block = box->block,
		.cgroup = cgroup_dir(&box->cgroups.init, CGROUP_UNIFIED),
		.groups = &box->cgroups,
		.socket = pair[1],
		.deadline = launch_deadline(),
	};
	int result = launch_run(&launch, err);
	box->pidfd = launch.pidfd;
	box->pid = launch.pid;
	close(pair[1]);
	if (result == 0)
		result = wait_until_ready(&launch, pair[0], err);
	if (result < 0)
		close(pair[0]);
	else
		*init_socket = pair[0];
	return result;
}

static int build(struct sandbox_box *box, const struct sandbox_spec *spec, int *init_socket, struct error *err)
{
	if (check_spec(box->host, spec, err) < 0)
		return -1;
	if (box->host->has_ranges && (box->block = id_range_take(&box->host->ids, err)) < 0)
		return -1;
	if (cgroup_session_create(&box->cgroups, &box->host->cgroups, spec->session, &spec->limits, err) < 0)
		return -1;
	box->has_groups = true;
	return start_init(box, spec, init_socket, err);
}

/* What was half made must go before the error is told, so this waits; everything in it has been killed. */
static void undo(struct sandbox_box *box)
{
	sandbox_box_kill(box);
	for (int i = 0; !sandbox_box_is_gone(box) && i < UNDO_MILLISECONDS; i++) {
		struct pollfd pollfd = {.fd = box->reaped ? -1 : box->pidfd, .events = POLLIN};
		poll(&pollfd, 1, 1);
	}
	sandbox_box_destroy(box);
}

struct sandbox_box *sandbox_box_create(struct sandbox_host *host, const struct sandbox_spec *spec, int *init_socket,
                                       struct error *err)
{
	struct sandbox_box *box = calloc(1, sizeof *box);
	if (!box)
		abort();
	box->host = host;
	box->block = -1;
	box->pidfd = -1;
	host->boxes++;
	if (build(box, spec, init_socket, err) == 0)
		return box;
	undo(box);
	error_prefix(err, "sandbox");
	return NULL;
}

int sandbox_box_pidfd(const struct sandbox_box *box)
{
	return box->pidfd;
}

/* The death of process 1 takes its pid namespace with it; cgroup.kill makes sure of who is on the way in. */
void sandbox_box_kill(struct sandbox_box *box)
{
	if (box->has_groups) {
		const struct cgroup_driver *driver = box->host->cgroups.driver;
		if (driver->frozen_cannot_die)
			driver->freeze(&box->cgroups.work, false, NULL);
		if (cgroup_dir(&box->cgroups.top, CGROUP_UNIFIED) >= 0)
			driver->kill(&box->cgroups.top, NULL);
	}
	if (box->pidfd >= 0 && !box->reaped)
		syscall(SYS_pidfd_send_signal, box->pidfd, SIGKILL, NULL, 0);
}

static bool reap(struct sandbox_box *box)
{
	if (box->reaped || box->pidfd < 0)
		return true;
	siginfo_t info = {0};
	int status = waitid(P_PIDFD, (id_t)box->pidfd, &info, WEXITED | WNOHANG);
	box->reaped = (status == 0 && info.si_pid != 0) || (status < 0 && errno == ECHILD);
	return box->reaped;
}

bool sandbox_box_is_gone(struct sandbox_box *box)
{
	if (!reap(box))
		return false;
	if (box->has_groups && !cgroup_session_remove(&box->cgroups))
		return false;
	box->has_groups = false;
	return true;
}

void sandbox_box_destroy(struct sandbox_box *box)
{
	if (!box)
		return;
	for (size_t i = 0; i < box->leaf_count; i++)
		cgroup_leaf_finish(&box->leaves[i].group);
	free(box->leaves);
	id_range_give(&box->host->ids, box->block);
	if (box->pidfd >= 0)
		close(box->pidfd);
	assert(box->host->boxes > 0);
	box->host->boxes--;
	free(box);
}

/* The newest are asked for most. */
static struct leaf *find_leaf(struct sandbox_box *box, uint32_t process)
{
	for (size_t i = box->leaf_count; i > 0; i--)
		if (box->leaves[i - 1].process == process)
			return &box->leaves[i - 1];
	return NULL;
}

static const struct cgroup_driver *driver_of(const struct sandbox_box *box)
{
	return box->host->cgroups.driver;
}

static struct leaf *need_leaf(struct sandbox_box *box, uint32_t process, struct error *err)
{
	if (driver_of(box) == &cgroup_none) {
		error_set(err, ENOSYS, "this host gives no cgroups");
		return NULL;
	}
	struct leaf *leaf = find_leaf(box, process);
	if (!leaf)
		error_set(err, ENOENT, "process %u has no leaf", process);
	return leaf;
}

static struct leaf *add_leaf(struct sandbox_box *box)
{
	if (box->leaf_count == box->leaf_room) {
		box->leaf_room = box->leaf_room ? box->leaf_room * 2 : 8;
		box->leaves = realloc(box->leaves, box->leaf_room * sizeof *box->leaves);
		if (!box->leaves)
			abort();
	}
	return &box->leaves[box->leaf_count];
}

int sandbox_box_leaf(struct sandbox_box *box, uint32_t process, int fds[8], struct error *err)
{
	if (driver_of(box) == &cgroup_none)
		return 0;
	if (process == 0 || find_leaf(box, process))
		return error_set(err, EEXIST, "process %u has a leaf already", process);
	struct leaf *leaf = add_leaf(box);
	int count = cgroup_leaf_create(&leaf->group, &box->cgroups, process, fds, err);
	if (count < 0)
		return -1;
	leaf->process = process;
	box->leaf_count++;
	return count;
}

int sandbox_box_leaf_open(struct sandbox_box *box, uint32_t process, int fds[8], struct error *err)
{
	if (driver_of(box) == &cgroup_none)
		return 0;
	struct leaf *leaf = need_leaf(box, process, err);
	return leaf ? cgroup_leaf_open(&leaf->group, &box->cgroups, fds, err) : -1;
}

int sandbox_box_leaf_kill(struct sandbox_box *box, uint32_t process, struct error *err)
{
	struct leaf *leaf = need_leaf(box, process, err);
	return leaf ? driver_of(box)->kill(&leaf->group, err) : -1;
}

int sandbox_box_leaf_is_empty(struct sandbox_box *box, uint32_t process, struct error *err)
{
	struct leaf *leaf = need_leaf(box, process, err);
	return leaf ? driver_of(box)->is_empty(&leaf->group, err) : -1;
}

int sandbox_box_leaf_events_fd(struct sandbox_box *box, uint32_t process)
{
	struct leaf *leaf = need_leaf(box, process, NULL);
	return leaf ? driver_of(box)->events_fd(&leaf->group) : -1;
}

int sandbox_box_leaf_usage(struct sandbox_box *box, uint32_t process, struct process_usage *usage, struct error *err)
{
	memset(usage, 0xff, sizeof *usage); /* UINT64_MAX: not known */
	struct leaf *leaf = need_leaf(box, process, err);
	if (!leaf || driver_of(box)->usage(&leaf->group, usage, err) < 0)
		return -1;
	int empty = driver_of(box)->is_empty(&leaf->group, NULL);
	if (empty >= 0)
		usage->populated = empty ? 0 : 1;
	return 0;
}

int sandbox_box_leaf_remove(struct sandbox_box *box, uint32_t process, struct error *err)
{
	struct leaf *leaf = need_leaf(box, process, err);
	if (!leaf || cgroup_leaf_remove(&leaf->group, &box->cgroups, process, err) < 0)
		return -1;
	size_t index = (size_t)(leaf - box->leaves);
	memmove(leaf, leaf + 1, (box->leaf_count - index - 1) * sizeof *leaf);
	box->leaf_count--;
	return 0;
}

/* Init's own working directory's file system would not do: the tmpfs stands in its mount namespace alone. Process 1 of a
 * sandbox is our child, so the number is its own until reap(); and nothing inside can put something else in the place of a
 * mount point. */
static void measure_workspace(const struct sandbox_box *box, struct sandbox_usage *usage)
{
	char path[64];
	struct statfs status;
	snprintf(path, sizeof path, "/proc/%d/root/work", (int)box->pid);
	int fd = box->reaped || box->pid <= 0 ? -1 : open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return;
	if (fstatfs(fd, &status) == 0 && status.f_type == TMPFS_MAGIC) {
		usage->workspace = (status.f_blocks - status.f_bfree) * (uint64_t)status.f_bsize;
		usage->inodes = status.f_files - status.f_ffree;
	}
	close(fd);
}

void sandbox_box_measure(struct sandbox_box *box, struct sandbox_usage *usage)
{
	memset(usage, 0xff, sizeof *usage); /* UINT64_MAX: not known */
	driver_of(box)->measure(&box->cgroups.work, usage);
	measure_workspace(box, usage);
}

int sandbox_box_freeze(struct sandbox_box *box, bool frozen, struct error *err)
{
	return driver_of(box)->freeze(&box->cgroups.work, frozen, err);
}
