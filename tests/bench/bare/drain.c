#include "drain.h"

#include "measure.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { EVENTS = 256, READ_BYTES = 256 * 1024 };

/* Shared by both processes. */
struct drain {
	_Atomic uint64_t bytes;
	pid_t pid;
};

static void take(struct drain *drain, int poll, int socket, char *scratch)
{
	ssize_t got = read(socket, scratch, READ_BYTES);
	if (got > 0)
		atomic_fetch_add_explicit(&drain->bytes, (uint64_t)got, memory_order_relaxed);
	else
		epoll_ctl(poll, EPOLL_CTL_DEL, socket, NULL);
}

static void be_drain(struct drain *drain, const int *sockets, size_t count)
{
	static char scratch[READ_BYTES];
	struct epoll_event events[EVENTS];
	int poll = epoll_create1(EPOLL_CLOEXEC);
	for (size_t i = 0; i < count; i++) {
		struct epoll_event event = {.events = EPOLLIN, .data.fd = sockets[i]};
		if (poll < 0 || epoll_ctl(poll, EPOLL_CTL_ADD, sockets[i], &event) != 0)
			_exit(1);
	}
	for (;;) {
		int ready = epoll_wait(poll, events, EVENTS, -1);
		for (int i = 0; i < ready; i++)
			take(drain, poll, events[i].data.fd, scratch);
	}
}

struct drain *drain_start(const int *sockets, size_t count)
{
	struct drain *drain = mmap(NULL, sizeof *drain, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (drain == MAP_FAILED)
		die("mmap");
	pid_t parent = getpid(), pid = fork();
	if (pid < 0)
		die("fork");
	if (pid == 0) {
		if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent)
			_exit(1);
		be_drain(drain, sockets, count);
	}
	drain->pid = pid;
	return drain;
}

uint64_t drain_bytes(const struct drain *drain)
{
	return atomic_load_explicit(&drain->bytes, memory_order_relaxed);
}

void drain_stop(struct drain *drain)
{
	kill(drain->pid, SIGKILL);
	waitpid(drain->pid, NULL, 0);
	munmap(drain, sizeof *drain);
}
