#include "keeper_process.h"
#include "server/keeper/keeper.h"

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

static void serve(struct keeper *keeper)
{
	while (keeper_is_attached(keeper) || keeper_boxes(keeper) > 0) {
		struct pollfd poll_fd = {.fd = keeper_fd(keeper), .events = POLLIN};
		struct timespec timeout = {.tv_nsec = 1000000};
		ppoll(&poll_fd, 1, keeper_deadline(keeper) == UINT64_MAX ? NULL : &timeout, NULL);
		keeper_run(keeper);
		if (!keeper_is_attached(keeper))
			keeper_detach(keeper);
	}
}

/* As server.c does it. What it writes to STATUS is "ok" or why not. */
static int run(const struct keeper_process *process, uint32_t max_sessions, int socket, int status)
{
	struct error err;
	struct sandbox_host_options options = {.init_fd = open(SANDBAR_INIT_PATH, O_RDONLY | O_CLOEXEC),
	                                       .cgroup_name = process->cgroup,
	                                       .staging = process->staging};
	struct sandbox_host *host = sandbox_host_create(&options, &err);
	if (host)
		sandbox_host_sweep(host, NULL); /* of a keeper that a test killed */
	struct keeper *keeper = host ? keeper_create(host, max_sessions, &err) : NULL;
	if (!keeper || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0 || keeper_attach(keeper, socket, 7, &err) < 0) {
		dprintf(status, "%s", err.message);
		return 1;
	}
	dprintf(status, "ok");
	close(status);
	serve(keeper);
	keeper_destroy(keeper);
	sandbox_host_destroy(host);
	return 0;
}

bool keeper_process_start(struct keeper_process *keeper, uint32_t max_sessions)
{
	int pair[2], status[2];
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) < 0 || pipe2(status, O_CLOEXEC) < 0)
		abort();
	*keeper = (struct keeper_process){.socket = pair[1], .staging = "/tmp/sandbar-test.XXXXXX"};
	if (!mkdtemp(keeper->staging))
		abort();
	snprintf(keeper->cgroup, sizeof keeper->cgroup, "sandbar-test-%d", (int)getpid());
	keeper->pid = fork();
	if (keeper->pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(pair[1]);
		close(status[0]);
		_exit(run(keeper, max_sessions, pair[0], status[1]));
	}
	close(pair[0]);
	close(status[1]);
	ssize_t length = read(status[0], keeper->failure, sizeof keeper->failure - 1);
	close(status[0]);
	if (length == 2 && memcmp(keeper->failure, "ok", 2) == 0)
		return true;
	close(pair[1]);
	waitpid(keeper->pid, NULL, 0);
	rmdir(keeper->staging);
	return false;
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
	waitpid(keeper->pid, NULL, 0);
	rmdir(keeper->staging);
}
