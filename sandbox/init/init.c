#include "init.h"

#include "outbox.h"
#include "request.h"
#include "spare.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

/* Bounds of one turn, so that a flood of one kind cannot starve the others; and milliseconds. */
enum {
	TURN_EVENTS = 64,
	TURN_REQUESTS = 64,
	TURN_ZOMBIES = 1024,
	RETRY_MS = 20,
	KILL_MS = 4,
	KILL_ATTEMPTS_FAST = 50,
	KILL_SLOW_MS = 50,
};

static int watch(struct init *init, int fd, uint64_t what)
{
	struct epoll_event event = {.events = EPOLLIN, .data.u64 = what};
	return epoll_ctl(init->poll, EPOLL_CTL_ADD, fd, &event);
}

static int open_all(struct init *init)
{
	sigset_t children;
	sigemptyset(&children);
	sigaddset(&children, SIGCHLD);
	if (sigprocmask(SIG_BLOCK, &children, NULL) < 0)
		return -1;
	init->poll = epoll_create1(EPOLL_CLOEXEC);
	init->signals = signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK);
	if (init->poll < 0 || init->signals < 0 || pipe2(init->reports, O_CLOEXEC) < 0)
		return -1;
	if (fcntl(init->reports[0], F_SETFL, O_NONBLOCK) < 0 || fcntl(init->control, F_SETFD, FD_CLOEXEC) < 0)
		return -1;
	init->watched = EPOLLIN;
	if (watch(init, init->control, WATCH_CONTROL) < 0 || watch(init, init->signals, WATCH_SIGNALS) < 0)
		return -1;
	if (init->settings.listener > 0 && watch(init, init->settings.listener, WATCH_DENIALS) < 0)
		return -1;
	return watch(init, init->reports[0], WATCH_REPORTS);
}

struct init *init_create(int control, const struct settings *settings)
{
	struct init *init = mmap(NULL, sizeof *init, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (init == MAP_FAILED)
		return NULL;
	init->settings = *settings;
	init->settings.own_cgroup = tree_cgroup_key(getpid());
	init->control = control;
	init->signals = init->poll = init->reports[0] = init->reports[1] = -1;
	if (process_table_init(&init->table) == 0 && open_all(init) == 0)
		return init;
	int errnum = errno;
	init_destroy(init);
	errno = errnum;
	return NULL;
}

void init_destroy(struct init *init)
{
	if (!init)
		return;
	spares_end_before(init, UINT32_MAX);
	if (init->table.notes)
		process_table_finish(&init->table);
	const int fds[] = {init->control, init->signals, init->reports[0], init->reports[1], init->poll};
	for (size_t i = 0; i < sizeof fds / sizeof *fds; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	munmap(init, sizeof *init);
}

static void hear_outcome(struct init *init, uint64_t index)
{
	process_settle(&init->table, &init->table.rows[index]);
}

/* As long as the last refusal is not sent, none is read that could need another. */
static void hear_control(struct init *init, uint64_t what)
{
	(void)what;
	struct request request;
	for (int i = 0; i < TURN_REQUESTS && init->refusal.type == 0; i++) {
		enum request_result result = request_receive(init->control, &request);
		init->is_gone = result == REQUEST_END;
		if (result != REQUEST_RECEIVED)
			return;
		request_handle(init, &request);
		request_finish(&request);
	}
}

static void hear_signals(struct init *init, uint64_t what)
{
	(void)what;
	struct signalfd_siginfo info;
	while (read(init->signals, &info, sizeof info) == sizeof info)
		;
	init->has_zombies = true;
}

static void hear_reports(struct init *init, uint64_t what)
{
	(void)what;
	uint32_t index;
	while (read(init->reports[0], &index, sizeof index) == sizeof index)
		if (index < INIT_PROCESSES && init->table.rows[index].note && init->table.rows[index].note->has_ended)
			process_handle(&init->table, &init->table.rows[index], PROCESS_ENDED);
}

static void hear_denials(struct init *init, uint64_t what)
{
	(void)what;
	denial_hear(init);
}

/* Who is stopped before it has become the user's, or is a subreaper, was stopped by the user's processes: go on. */
static void reap_stopped(struct process *process)
{
	if (process->state == PROCESS_STARTING || process->flags & INIT_SUBREAPER)
		(void)kill(process->child, SIGCONT);
}

static void reap_ended(struct init *init, struct process *process, int status, const struct rusage *usage)
{
	process->child = 0;
	if (process->flags & INIT_SUBREAPER) {
		process_handle(&init->table, process, process->note->has_ended ? PROCESS_ENDED : PROCESS_ORPHANED);
		if (status == 0) /* it was not killed */
			process_handle(&init->table, process, PROCESS_EMPTIED);
	} else {
		process->note->ending = ending_make(status, usage);
		process_handle(&init->table, process, PROCESS_ENDED);
	}
}

/* Everything that dies here is init's to reap: leaders, subreapers, and in silence the orphans. */
static void reap_all(struct init *init)
{
	int status;
	struct rusage usage;
	init->has_zombies = false;
	for (int i = 0; i < TURN_ZOMBIES; i++) {
		pid_t pid = wait4(-1, &status, WNOHANG | WUNTRACED, &usage);
		if (pid <= 0)
			return;
		struct process *process = process_find_child(&init->table, pid);
		if (process && WIFSTOPPED(status))
			reap_stopped(process);
		else if (process)
			reap_ended(init, process, status, &usage);
		else if (WIFSTOPPED(status))
			spare_stopped(init, pid);
		else
			spare_reaped(init, pid);
	}
	init->has_zombies = true;
}

static void kill_all(struct init *init)
{
	for (size_t i = 0; i < init->table.count; i++)
		if (init->table.rows[i].is_killing)
			process_kill_step(&init->table.rows[i]);
}

static int sooner(int timeout_ms, int other_ms)
{
	return timeout_ms < 0 || other_ms < timeout_ms ? other_ms : timeout_ms;
}

static int next_wake(struct init *init, int timeout_ms)
{
	if (init->has_zombies)
		return 0;
	if (init->waits_by_time)
		timeout_ms = sooner(timeout_ms, RETRY_MS);
	int pause_ms = denial_resume(init);
	if (pause_ms >= 0)
		timeout_ms = sooner(timeout_ms, pause_ms);
	for (size_t i = 0; i < init->table.count; i++)
		if (init->table.rows[i].is_killing)
			timeout_ms = sooner(timeout_ms, init->table.rows[i].attempts < KILL_ATTEMPTS_FAST ? KILL_MS : KILL_SLOW_MS);
	return timeout_ms;
}

static void watch_control(struct init *init)
{
	uint32_t events = !init->is_blocked ? EPOLLIN : init->waits_by_time ? 0 : EPOLLOUT;
	if (events == init->watched)
		return;
	struct epoll_event event = {.events = events, .data.u64 = WATCH_CONTROL};
	if (epoll_ctl(init->poll, EPOLL_CTL_MOD, init->control, &event) == 0)
		init->watched = events;
}

static void flush(struct init *init)
{
	enum outbox_result result = outbox_flush(init);
	init->is_blocked = result == OUTBOX_FULL || result == OUTBOX_LATER;
	init->waits_by_time = result == OUTBOX_LATER;
	init->is_gone = init->is_gone || result == OUTBOX_GONE;
	watch_control(init);
}

void init_announce(struct init *init)
{
	init->owes_synced = true;
	flush(init);
}

static void hear(struct init *init, const struct epoll_event *event)
{
	static void (*const rows[])(struct init * init, uint64_t what) = {hear_control, hear_signals, hear_reports,
	                                                                  hear_denials};
	uint64_t what = event->data.u64;
	if (what < INIT_PROCESSES)
		hear_outcome(init, what);
	else if (what == WATCH_CONTROL && init->is_blocked)
		init->is_gone = event->events & (EPOLLHUP | EPOLLERR);
	else
		rows[what - WATCH_CONTROL](init, what);
}

bool init_turn(struct init *init, int timeout_ms)
{
	struct epoll_event events[TURN_EVENTS];
	int count = epoll_wait(init->poll, events, TURN_EVENTS, next_wake(init, timeout_ms));
	for (int i = 0; i < count && !init->is_gone; i++)
		hear(init, &events[i]);
	if (init->has_zombies)
		reap_all(init);
	kill_all(init);
	if (!init->is_gone)
		flush(init);
	return !init->is_gone;
}
