#include "denial.h"

#include "init.h"
#include "outbox.h"
#include "tree.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Linux's own values, for headers that are older than the kernel. */
#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5) /* Linux 5.19 */
#endif
#ifndef SECCOMP_IOCTL_NOTIF_SET_FLAGS
#define SECCOMP_IOCTL_NOTIF_SET_FLAGS SECCOMP_IOW(4, __u64) /* Linux 6.6 */
#define SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP (1UL << 0)
#endif

#define REFUSE (SECCOMP_RET_ERRNO | EPERM)

/* A kernel's struct may be longer than the one of our headers; it has grown never yet. */
union notice {
	struct seccomp_notif it;
	char room[256];
};

static bool is_refusal(const struct sock_filter *instruction)
{
	return instruction->code == (BPF_RET | BPF_K) && instruction->k == REFUSE;
}

/* Without the first flag a signal that arrives meanwhile would make the caller ask again. */
int denial_load(const struct sock_fprog *filter)
{
	for (unsigned i = 0; i < filter->len; i++)
		if (is_refusal(&filter->filter[i]))
			filter->filter[i].k = SECCOMP_RET_USER_NOTIF;
	const unsigned long flags[] = {SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV,
	                               SECCOMP_FILTER_FLAG_NEW_LISTENER};
	int listener = -1;
	for (size_t i = 0; i < sizeof flags / sizeof *flags && listener < 0; i++)
		listener = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags[i], filter);
	if (listener >= 0) /* init runs next, on the caller's processor: a fifth of the time */
		(void)ioctl(listener, SECCOMP_IOCTL_NOTIF_SET_FLAGS, SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP);
	for (unsigned i = 0; i < filter->len; i++)
		if (filter->filter[i].code == (BPF_RET | BPF_K) && filter->filter[i].k == SECCOMP_RET_USER_NOTIF)
			filter->filter[i].k = REFUSE;
	return listener;
}

bool denial_count(struct denials *denials, int32_t call, pid_t thread)
{
	denials->count++;
	denials->call = call;
	denials->thread = thread;
	return denials->count <= DENIALS_EACH || denials->count >= denials->told * 2;
}

static struct process *find_by_cgroup(struct init *init, pid_t thread)
{
	uint64_t cgroup = tree_cgroup_key(thread);
	for (size_t i = init->table.count; cgroup != 0 && i > 0; i--) {
		struct process *process = &init->table.rows[i - 1];
		if (process->number != 0 && process->note->cgroup == cgroup)
			return process;
	}
	return NULL;
}

/* Its subreaper, or else its leader, is somewhere above it. */
static struct process *find_by_parents(struct init *init, pid_t thread)
{
	for (int i = 0; i < DENIAL_PARENTS && thread > 1; i++) {
		struct process *process = process_find_child(&init->table, thread);
		if (process && process->number != 0)
			return process;
		thread = tree_parent(thread);
	}
	return NULL;
}

static void take(struct init *init, const struct seccomp_notif *notice)
{
	struct process *process = find_by_cgroup(init, (pid_t)notice->pid);
	if (!process)
		process = find_by_parents(init, (pid_t)notice->pid);
	if (!process)
		init->owes_stray = denial_count(&init->strays, notice->data.nr, (pid_t)notice->pid) || init->owes_stray;
	else if (denial_count(&process->denials, notice->data.nr, (pid_t)notice->pid))
		process->owed |= OWES_DENIED;
}

/* The answer comes first, since the caller waits for it. */
static bool hear_one(struct init *init)
{
	struct pollfd listener = {.fd = init->settings.listener, .events = POLLIN};
	if (poll(&listener, 1, 0) <= 0 || !(listener.revents & POLLIN))
		return false;
	union notice notice = {0};
	if (ioctl(listener.fd, SECCOMP_IOCTL_NOTIF_RECV, &notice) < 0)
		return errno == ENOENT; /* it was killed meanwhile */
	take(init, &notice.it);
	struct seccomp_notif_resp answer = {.id = notice.it.id, .error = -EPERM};
	(void)ioctl(listener.fd, SECCOMP_IOCTL_NOTIF_SEND, &answer);
	return true;
}

static int64_t now_ms(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void refill(struct denial_pace *pace, int64_t now)
{
	int64_t pauses = (now - pace->filled_ms) / DENIAL_PAUSE_MS;
	if (pauses <= 0)
		return;
	pace->filled_ms += pauses * DENIAL_PAUSE_MS;
	pace->spent = pauses * DENIAL_TURN >= pace->spent ? 0 : pace->spent - (int32_t)pauses * DENIAL_TURN;
}

static void listen_on(struct init *init, bool on)
{
	struct epoll_event event = {.events = on ? EPOLLIN : 0, .data.u64 = WATCH_DENIALS};
	if (epoll_ctl(init->poll, EPOLL_CTL_MOD, init->settings.listener, &event) == 0)
		init->pace.is_paused = !on;
}

void denial_hear(struct init *init)
{
	refill(&init->pace, now_ms());
	for (int i = 0; i < DENIAL_TURN && init->pace.spent < DENIAL_BURST && hear_one(init); i++) {
		init->pace.spent++;
		if (!init->is_blocked)
			(void)outbox_flush(init); /* each by itself, as long as the gateway reads */
	}
	if (init->pace.spent >= DENIAL_BURST)
		listen_on(init, false);
}

int denial_resume(struct init *init)
{
	if (!init->pace.is_paused)
		return -1;
	int64_t now = now_ms();
	refill(&init->pace, now);
	if (init->pace.spent >= DENIAL_BURST)
		return (int)(init->pace.filled_ms + DENIAL_PAUSE_MS - now);
	listen_on(init, true);
	return -1;
}
