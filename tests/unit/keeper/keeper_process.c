#include "keeper_process.h"
#include "server/keeper/keeper.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static size_t count_descriptors(void)
{
	size_t count = 0;
	DIR *directory = opendir("/proc/self/fd");
	while (readdir(directory))
		count++;
	closedir(directory);
	return count - 3; /* ".", ".." and the directory itself */
}

/* A message on CONTROL: the socket of the next gateway, or, without one, a question. False at its end. */
static bool take_control(int control, int *next)
{
	char byte;
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(sizeof(int))];
	} ancillary = {0};
	struct iovec part = {.iov_base = &byte, .iov_len = 1};
	struct msghdr message = {
		.msg_iov = &part, .msg_iovlen = 1, .msg_control = &ancillary, .msg_controllen = sizeof ancillary};
	if (recvmsg(control, &message, MSG_CMSG_CLOEXEC) <= 0)
		return false;
	if (CMSG_FIRSTHDR(&message))
		memcpy(next, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof *next);
	return true;
}

static void answer_count(int control, const struct keeper *keeper)
{
	struct keeper_count count = {.descriptors = count_descriptors(), .boxes = keeper_boxes(keeper)};
	if (send(control, &count, sizeof count, 0) < 0)
		abort();
}

static void attach_next(struct keeper *keeper, int *next, uint64_t *epoch)
{
	if (keeper_is_attached(keeper))
		return;
	keeper_detach(keeper);
	if (*next >= 0 && keeper_attach(keeper, *next, ++*epoch, NULL) < 0)
		abort();
	*next = -1;
}

static void serve(struct keeper *keeper, int control, uint64_t epoch)
{
	int next = -1;
	bool is_leaving = false;
	while (!is_leaving || keeper_boxes(keeper) > 0) {
		struct pollfd fds[] = {{.fd = keeper_fd(keeper), .events = POLLIN},
		                       {.fd = is_leaving ? -1 : control, .events = POLLIN}};
		struct timespec timeout = {.tv_nsec = 1000000};
		ppoll(fds, 2, keeper_deadline(keeper) == UINT64_MAX ? NULL : &timeout, NULL);
		keeper_run(keeper);
		int had = next;
		if (fds[1].revents && !take_control(control, &next)) {
			is_leaving = true;
			keeper_detach(keeper);
			keeper_end_boxes(keeper);
		} else if (fds[1].revents && next == had) {
			answer_count(control, keeper);
		}
		if (!is_leaving)
			attach_next(keeper, &next, &epoch);
	}
}

/* As server.c does it. What it writes to STATUS is "ok" or why not. */
static int run(const struct keeper_process *process, uint32_t max_sessions, int socket, int control, int status)
{
	const uint64_t epoch = 7;
	struct error err;
	struct sandbox_host_options options = {.init_fd = open(SANDBAR_INIT_PATH, O_RDONLY | O_CLOEXEC),
	                                       .cgroup_name = process->cgroup,
	                                       .staging = process->staging};
	struct sandbox_host *host = sandbox_host_create(&options, &err);
	if (host)
		sandbox_host_sweep(host, NULL); /* of a keeper that a test killed */
	struct keeper *keeper = host ? keeper_create(host, max_sessions, &err) : NULL;
	if (!keeper || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0 || keeper_attach(keeper, socket, epoch, &err) < 0) {
		dprintf(status, "%s", err.message);
		return 1;
	}
	dprintf(status, "ok");
	close(status);
	serve(keeper, control, epoch);
	keeper_destroy(keeper);
	sandbox_host_destroy(host);
	return 0;
}

bool keeper_process_start(struct keeper_process *keeper, uint32_t max_sessions)
{
	int pair[2], control[2], status[2];
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) < 0 ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, control) < 0 || pipe2(status, O_CLOEXEC) < 0)
		abort();
	*keeper = (struct keeper_process){.socket = pair[1], .control = control[1], .staging = "/tmp/sandbar-test.XXXXXX"};
	if (!mkdtemp(keeper->staging))
		abort();
	snprintf(keeper->cgroup, sizeof keeper->cgroup, "sandbar-test-%d", (int)getpid());
	keeper->pid = fork();
	if (keeper->pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(pair[1]);
		close(control[1]);
		close(status[0]);
		_exit(run(keeper, max_sessions, pair[0], control[0], status[1]));
	}
	close(pair[0]);
	close(control[0]);
	close(status[1]);
	ssize_t length = read(status[0], keeper->failure, sizeof keeper->failure - 1);
	close(status[0]);
	if (length == 2 && memcmp(keeper->failure, "ok", 2) == 0)
		return true;
	close(pair[1]);
	close(control[1]);
	waitpid(keeper->pid, NULL, 0);
	rmdir(keeper->staging);
	return false;
}

void keeper_process_attach(struct keeper_process *keeper)
{
	int pair[2];
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) < 0)
		abort();
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(sizeof(int))];
	} ancillary = {.header = {.cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS}};
	memcpy(CMSG_DATA(&ancillary.header), &pair[0], sizeof(int));
	struct iovec part = {.iov_base = &(char){'a'}, .iov_len = 1};
	struct msghdr message = {
		.msg_iov = &part, .msg_iovlen = 1, .msg_control = &ancillary, .msg_controllen = sizeof ancillary};
	if (sendmsg(keeper->control, &message, 0) < 0)
		abort();
	close(pair[0]);
	keeper->socket = pair[1];
}

struct keeper_count keeper_process_count(const struct keeper_process *keeper)
{
	struct keeper_count count;
	if (send(keeper->control, "c", 1, 0) < 0 || recv(keeper->control, &count, sizeof count, 0) != sizeof count)
		abort();
	return count;
}

static const char *wanted;
static unsigned found;

static int look(const char *path, const struct stat *status, int type, struct FTW *place)
{
	(void)status, (void)type;
	found += strcmp(path + place->base, wanted) == 0;
	return 0;
}

bool keeper_process_stop(struct keeper_process *keeper)
{
	int status;
	close(keeper->socket);
	close(keeper->control);
	waitpid(keeper->pid, &status, 0);
	wanted = keeper->cgroup;
	found = 0;
	nftw("/sys/fs/cgroup", look, 16, FTW_PHYS);
	if (status != 0 || found != 0)
		fprintf(stderr, "the keeper left with status 0x%x, and %u cgroups\n", (unsigned)status, found);
	return rmdir(keeper->staging) == 0 && status == 0 && found == 0;
}

void keeper_process_kill(struct keeper_process *keeper)
{
	kill(keeper->pid, SIGKILL);
	close(keeper->control);
	waitpid(keeper->pid, NULL, 0);
	rmdir(keeper->staging);
}
