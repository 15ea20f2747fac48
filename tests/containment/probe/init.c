/*
 * Process 1 holds every stream of the session and is obeyed by the gateway's socket: who rules it rules the session (and
 * whoever waits for it: an attached pid 1 once hung bubblewrap for ever).
 */
#include "attempt.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { IO_IDLE = 3 << 13 }; /* ioprio_set(2): the class stands above bit 13 */

static char byte;
static struct iovec piece = {&byte, 1};
static unsigned long many_processors = ~0ul;
static struct sched_param ordinary;

/* A signal that process 1 does not handle never reaches it, and SIGKILL from inside neither: what counts is that we, who
 * would die with it, still live. */
static int signal_init(const struct probe *probe)
{
	if (kill(1, (int)probe->number) < 0)
		return errno;
	usleep(50000);
	return kill(1, 0) == 0 ? OUTCOME_NOTHING : OUTCOME_OPEN;
}

static int signal_by_pidfd(const struct probe *probe)
{
	int fd = (int)syscall(SYS_pidfd_open, 1, 0);
	if (fd < 0)
		return errno;
	if (syscall(SYS_pidfd_send_signal, fd, probe->number, NULL, 0) < 0)
		return errno;
	usleep(50000);
	return OUTCOME_NOTHING;
}

/* A forged notice of a child's end. */
static int queue_to_init(const struct probe *probe)
{
	siginfo_t info = {.si_signo = (int)probe->number, .si_code = SI_QUEUE};
	if (syscall(SYS_rt_sigqueueinfo, 1, probe->number, &info) < 0)
		return errno;
	usleep(50000);
	return kill(1, 0) == 0 || errno == EPERM ? OUTCOME_NOTHING : OUTCOME_OPEN;
}

/* Which of our descriptors it shares, and where its memory lies. */
static int compare_with_init(const struct probe *probe)
{
	(void)probe;
	return outcome_of(syscall(SYS_kcmp, 1, getpid(), 0, 0, 0));
}

/* To what they are: lower ones would hold up the session. */
static int set_limit_of_init(const struct probe *probe)
{
	struct rlimit limit;
	(void)probe;
	if (prlimit(1, RLIMIT_NOFILE, NULL, &limit) < 0)
		return errno;
	return outcome_of(prlimit(1, RLIMIT_NOFILE, &limit, NULL));
}

static int take_priority_of_init(const struct probe *probe)
{
	(void)probe;
	return outcome_of(setpriority(PRIO_PROCESS, 1, 19));
}

/* clang-format off */
#define OF_INIT E(EPERM, EACCES, ESRCH)
#define TO_INIT E(EPERM, ESRCH, OUTCOME_NOTHING)
#define TRACE(name, request) CALL(name, "ptrace(" #request ", 1)", "init", OF_INIT, PROBE_GRAVE, SYS_ptrace, request, 1, 0, 0)
#define SIGNAL(name, signo) PATH("signal-1-" name, "send " #signo " to process 1", "init", TO_INIT, signal_init, NULL, signo)
#define BY_PIDFD(name, signo) PATH("pidfd-1-" name, "send " #signo " through a pidfd of process 1", "init", TO_INIT, signal_by_pidfd, NULL, signo)
#define QUEUE(name, signo) PATH("queue-1-" name, "queue a forged " #signo " for process 1", "init", TO_INIT, queue_to_init, NULL, signo)
#define TELL(name, attempt, number, ...) CALL(name, attempt, "init", OF_INIT, PROBE_GRAVE, number, __VA_ARGS__)

const struct probe PROBES_init[] = {
	TRACE("attach-1", PTRACE_ATTACH), TRACE("seize-1", PTRACE_SEIZE),
	TELL("read-memory-1", "process_vm_readv from process 1", SYS_process_vm_readv, 1, (unsigned long)(uintptr_t)&piece, 1, (unsigned long)(uintptr_t)&piece, 1, 0),
	TELL("write-memory-1", "process_vm_writev into process 1", SYS_process_vm_writev, 1, (unsigned long)(uintptr_t)&piece, 1, (unsigned long)(uintptr_t)&piece, 1, 0),
	SIGNAL("stop", SIGSTOP), SIGNAL("kill", SIGKILL), SIGNAL("term", SIGTERM), SIGNAL("hup", SIGHUP), SIGNAL("segv", SIGSEGV), SIGNAL("quit", SIGQUIT),
	SIGNAL("child", SIGCHLD), SIGNAL("alarm", SIGALRM), SIGNAL("pipe", SIGPIPE), SIGNAL("realtime", 34),
	BY_PIDFD("kill", SIGKILL), BY_PIDFD("stop", SIGSTOP), QUEUE("child", SIGCHLD), QUEUE("user", SIGUSR1),
	RUN("limits-1", "set the limits of process 1", "init", OF_INIT, PROBE_GRAVE, set_limit_of_init),
	RUN("priority-1", "lower the priority of process 1", "init", OF_INIT, 0, take_priority_of_init),
	TELL("affinity-1", "sched_setaffinity of process 1", SYS_sched_setaffinity, 1, sizeof many_processors, (unsigned long)(uintptr_t)&many_processors),
	TELL("io-priority-1", "ioprio_set of process 1", SYS_ioprio_set, 1, 1, IO_IDLE),
	TELL("robust-list-1", "get_robust_list of process 1", SYS_get_robust_list, 1, (unsigned long)(uintptr_t)&piece.iov_base, (unsigned long)(uintptr_t)&piece.iov_len),
	TELL("group-of-1", "setpgid of process 1", SYS_setpgid, 1, 0),
	TELL("scheduler-1", "sched_setscheduler of process 1", SYS_sched_setscheduler, 1, SCHED_BATCH, (unsigned long)(uintptr_t)&ordinary),
	RUN("compare-1", "kcmp with process 1", "init", E(EPERM, ENOSYS, ESRCH), 0, compare_with_init),
};
/* clang-format on */
PROBE_TABLE_END(init)
