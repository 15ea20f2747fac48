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

enum { EVENTS = 256, READ_BYTES = 256 * 1024, HEAD_MOST = 10 };

/* Shared by both processes. */
struct drain {
	_Atomic uint64_t bytes, units;
	enum drain_unit unit;
	pid_t pid;
};

/* Where a connection is in its units. */
struct flow {
	int socket;
	uint64_t left; /* of the unit under way, behind its header */
	uint8_t head[HEAD_MOST];
	size_t have; /* of the header */
};

/* RFC 6455, 5.2 (what a server sends is not masked); RFC 8446, 5.1. */
static size_t head_bytes(const struct flow *flow, enum drain_unit unit)
{
	if (unit == DRAIN_RECORDS)
		return 5;
	if (flow->have < 2)
		return 2;
	return flow->head[1] == 126 ? 4 : flow->head[1] == 127 ? 10 : 2;
}

static void begin_unit(struct flow *flow, enum drain_unit unit)
{
	size_t from = unit == DRAIN_RECORDS ? 3 : flow->have == 2 ? 1 : 2; /* the length's first byte */
	flow->left = 0;
	for (size_t i = from; i < flow->have; i++)
		flow->left = flow->left << 8 | flow->head[i];
	flow->have = 0;
}

/* How many units begin in these bytes. */
static uint64_t follow(struct flow *flow, enum drain_unit unit, const uint8_t *bytes, size_t length)
{
	uint64_t units = 0;
	for (size_t at = 0; at < length;) {
		size_t step = flow->left < length - at ? (size_t)flow->left : length - at;
		flow->left -= step;
		at += step;
		if (at == length || flow->left > 0)
			break;
		flow->head[flow->have++] = bytes[at++];
		if (flow->have < head_bytes(flow, unit))
			continue;
		begin_unit(flow, unit);
		units++;
	}
	return units;
}

static void take(struct drain *drain, int poll, struct flow *flow, uint8_t *scratch)
{
	ssize_t got = read(flow->socket, scratch, READ_BYTES);
	if (got <= 0) {
		epoll_ctl(poll, EPOLL_CTL_DEL, flow->socket, NULL);
		return;
	}
	atomic_fetch_add_explicit(&drain->bytes, (uint64_t)got, memory_order_relaxed);
	uint64_t units = follow(flow, drain->unit, scratch, (size_t)got);
	atomic_fetch_add_explicit(&drain->units, units, memory_order_relaxed);
}

static void be_drain(struct drain *drain, const int *sockets, size_t count)
{
	static uint8_t scratch[READ_BYTES];
	struct epoll_event events[EVENTS];
	struct flow *flows = calloc(count, sizeof *flows);
	int poll = epoll_create1(EPOLL_CLOEXEC);
	for (size_t i = 0; i < count; i++) {
		struct epoll_event event = {.events = EPOLLIN, .data.ptr = flows + i};
		if (flows)
			flows[i].socket = sockets[i];
		if (!flows || poll < 0 || epoll_ctl(poll, EPOLL_CTL_ADD, sockets[i], &event) != 0)
			_exit(1);
	}
	for (;;) {
		int ready = epoll_wait(poll, events, EVENTS, -1);
		for (int i = 0; i < ready; i++)
			take(drain, poll, events[i].data.ptr, scratch);
	}
}

struct drain *drain_start(const int *sockets, size_t count, enum drain_unit unit)
{
	struct drain *drain = mmap(NULL, sizeof *drain, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (drain == MAP_FAILED)
		die("mmap");
	drain->unit = unit;
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

uint64_t drain_units(const struct drain *drain)
{
	return atomic_load_explicit(&drain->units, memory_order_relaxed);
}

void drain_stop(struct drain *drain)
{
	kill(drain->pid, SIGKILL);
	waitpid(drain->pid, NULL, 0);
	munmap(drain, sizeof *drain);
}
