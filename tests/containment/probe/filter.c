/* The filter is put on once; ways to be looked at by another one, or at another moment. */
#include "attempt.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#define X32_BIT 0x40000000l
#define HIGH_BIT (1l << 32)

#ifdef __x86_64__
/* Call NUMBER of the 32-bit ABI (its numbers are those of asm/unistd_32.h). On a machine without it: SIGSEGV. */
static int call_i386(const struct probe *probe)
{
	long result;
	__asm__ volatile("int $0x80"
	                 : "=a"(result)
	                 : "a"(probe->number), "b"(probe->arguments[0]), "c"(probe->arguments[1]), "d"(probe->arguments[2])
	                 : "memory", "r8", "r9", "r10", "r11");
	errno = result < 0 ? (int)-result : 0;
	return errno;
}

/* A tracer changes the number after the tracee has entered the kernel: since Linux 4.8 the filter looks after that. */
static int rewrite_call(const struct probe *probe)
{
	(void)probe;
	pid_t pid = fork();
	if (pid == 0) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		_exit(syscall(SYS_getppid) == 0 ? 0 : errno);
	}
	int status;
	struct user_regs_struct registers;
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		return errno;
	if (ptrace(PTRACE_SETOPTIONS, pid, NULL, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL) < 0)
		return errno;
	while (ptrace(PTRACE_SYSCALL, pid, NULL, NULL) == 0 && waitpid(pid, &status, 0) == pid && WIFSTOPPED(status)) {
		if (ptrace(PTRACE_GETREGS, pid, NULL, &registers) < 0 || registers.orig_rax != SYS_getppid)
			continue;
		registers.orig_rax = SYS_unshare;
		registers.rdi = CLONE_NEWUSER;
		ptrace(PTRACE_SETREGS, pid, NULL, &registers);
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : ECHILD;
}
#else
static int call_i386(const struct probe *probe)
{
	(void)probe;
	return OUTCOME_SKIPPED;
}

static int rewrite_call(const struct probe *probe)
{
	(void)probe;
	return OUTCOME_SKIPPED;
}
#endif

/* Another filter, which allows everything, over the one that is on: the strictest answer counts. */
static int allow_all(const struct probe *probe)
{
	struct sock_filter code[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
	struct sock_fprog program = {COUNT(code), code};
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) < 0)
		return errno;
	return attempt_call(probe);
}

/* A tracer's filter asks a supervisor, which says "go on": the other filter has still to agree. */
static int ask_supervisor(const struct probe *probe)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_unshare, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {COUNT(code), code};
	long listener = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
	if (listener < 0)
		return errno;
	pid_t pid = fork();
	if (pid == 0)
		_exit(attempt_call(probe));
	close((int)listener); /* nobody answers any more: ENOSYS, if it were asked at all */
	int status = 0;
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		return errno;
	return WEXITSTATUS(status);
}

/* clang-format off */
#define X32(name, number) \
	CALL(name, "the x32 call " #number, "seccomp", E(KILLED(SIGSYS)), PROBE_FORKS, X32_BIT + number, 0)
#define I386(name_, attempt_, number_, ...) \
	{.name = name_, .attempt = attempt_, .control = "seccomp", .expected = {KILLED(SIGSYS), KILLED(SIGSEGV)}, .run = call_i386, \
	 .number = number_, .arguments = {__VA_ARGS__}, .flags = PROBE_FORKS}
#define AGAIN(name_, attempt_, function, flags_) \
	{.name = name_, .attempt = attempt_, .control = "seccomp", .expected = {EPERM}, .run = function, .number = SYS_unshare, \
	 .arguments = {CLONE_NEWUSER}, .flags = flags_}

const struct probe PROBES_filter[] = {
	X32("x32-getpid", SYS_getpid), X32("x32-unshare", SYS_unshare), X32("x32-ptrace", 521), X32("x32-execve", 520),
	I386("i386-getpid", "getpid by int 0x80", 20, 0), I386("i386-socketcall", "socketcall by int 0x80, which hides the family", 102, 1, 0, 0),
	I386("i386-keyctl", "keyctl by int 0x80", 288, 0, 0, 0), I386("i386-unshare", "unshare by int 0x80", 310, CLONE_NEWUSER),
	AGAIN("filter-over", "put on a filter that allows everything, then unshare", allow_all, 0),
	/* EBUSY: there is a supervisor already, the sandbox's own. */
	{.name = "filter-notify", .attempt = "put on a filter that asks a supervisor of one's own, then unshare", .control = "seccomp",
	 .expected = {EPERM, EBUSY}, .run = ask_supervisor, .number = SYS_unshare, .arguments = {CLONE_NEWUSER}, .flags = PROBE_FORKS},
	{.name = "rewrite-by-ptrace", .attempt = "turn a call into unshare by ptrace", .control = "seccomp", .expected = {EPERM},
	 .run = rewrite_call, .flags = PROBE_FORKS},
	CALL("number-high", "unshare with bit 32 of its number set", "seccomp", E(EPERM), 0, HIGH_BIT + SYS_unshare, CLONE_NEWUSER),
	CALL("number-negative", "the call -1", "seccomp", E(ENOSYS), 0, -1l, 0),
	CALL("strict-mode-off", "PR_SET_SECCOMP to none", "seccomp", E(EINVAL), 0, SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_DISABLED, 0, 0, 0),
	CALL("read-filter", "read the filter by PTRACE_SECCOMP_GET_FILTER from oneself", "kernel", E(EACCES, EPERM, ESRCH), 0, SYS_ptrace, PTRACE_SECCOMP_GET_FILTER, 0, 0, 0),
};
/* clang-format on */
PROBE_TABLE_END(filter)
