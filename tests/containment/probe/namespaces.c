/* New namespaces give capabilities inside them, and with these most of the kernel (CVE-2022-0185, CVE-2022-0492). */
#include "attempt.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/nsfs.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define ALL_NAMESPACES \
	(CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWCGROUP)
#define HIGH_BIT (1ul << 32)

static int wait_for(long pid)
{
	if (pid == 0)
		_exit(0);
	if (pid < 0)
		return errno;
	waitpid((pid_t)pid, NULL, 0);
	return OUTCOME_OPEN;
}

static int clone_with(const struct probe *probe)
{
	return wait_for(syscall(SYS_clone, probe->arguments[0] | SIGCHLD, 0, 0, 0, 0));
}

static int clone3_with(const struct probe *probe)
{
	struct clone_args args = {.flags = probe->arguments[0], .exit_signal = SIGCHLD};
	return wait_for(syscall(SYS_clone3, &args, sizeof args));
}

/* The namespace at PATH: opening it may be refused already. */
static int join(const struct probe *probe)
{
	int fd = open(probe->path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno;
	int outcome = outcome_of(setns(fd, 0));
	close(fd);
	return outcome;
}

static int join_by_pidfd(const struct probe *probe)
{
	int fd = (int)syscall(SYS_pidfd_open, 1, 0);
	if (fd < 0)
		return errno;
	int outcome = outcome_of(setns(fd, (int)probe->arguments[0]));
	close(fd);
	return outcome;
}

/* The namespace above one's own, or of whoever owns it. */
static int climb(const struct probe *probe)
{
	int fd = open(probe->path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno;
	int outcome = outcome_of_fd(ioctl(fd, probe->arguments[0]));
	close(fd);
	return outcome;
}

/* clang-format off */
#define UNSHARE(name, flag) \
	CALL("unshare-" name, "unshare(" #flag ")", "seccomp", E(EPERM), PROBE_SHOWN, SYS_unshare, flag)
#define CLONE(name_, flag) \
	{.name = "clone-" name_, .attempt = "clone(" #flag ")", .control = "seccomp", .expected = {EPERM}, \
	 .run = clone_with, .arguments = {flag}, .flags = PROBE_FORKS | PROBE_SHOWN}
#define CLONE3(name_, flag) \
	{.name = "clone3-" name_, .attempt = "clone3(" #flag ")", .control = "seccomp", .expected = {ENOSYS}, \
	 .run = clone3_with, .arguments = {flag}, .flags = PROBE_FORKS | PROBE_SHOWN}
#define JOIN(name) PATH("setns-1-" name, "setns to /proc/1/ns/" name, "init", E(EACCES, ENOENT), join, "/proc/1/ns/" name, 0)
#define REJOIN(name) PATH("setns-own-" name, "setns to /proc/self/ns/" name, "seccomp", E(EPERM), join, "/proc/self/ns/" name, 0)
#define BY_PIDFD(name_, flag) \
	{.name = "setns-pidfd-" name_, .attempt = "setns(pidfd of 1, " #flag ")", .control = "seccomp", \
	 .expected = {EPERM, ESRCH}, .run = join_by_pidfd, .arguments = {flag}}
#define CLIMB(name_, path_, request) \
	{.name = name_, .attempt = #request " on " path_, .control = "namespace", .expected = {EPERM}, .run = climb, .path = path_, \
	 .arguments = {request}}

const struct probe PROBES_namespaces[] = {
	UNSHARE("user", CLONE_NEWUSER), UNSHARE("mount", CLONE_NEWNS), UNSHARE("net", CLONE_NEWNET), UNSHARE("pid", CLONE_NEWPID),
	UNSHARE("uts", CLONE_NEWUTS), UNSHARE("ipc", CLONE_NEWIPC), UNSHARE("cgroup", CLONE_NEWCGROUP), UNSHARE("all", ALL_NAMESPACES),
	CALL("unshare-time", "unshare(CLONE_NEWTIME)", "seccomp", E(EPERM), PROBE_SHOWN, SYS_unshare, CLONE_NEWTIME),
	CALL("unshare-user-high", "unshare(CLONE_NEWUSER) with bit 32 set", "seccomp", E(EPERM), 0, SYS_unshare, CLONE_NEWUSER | HIGH_BIT),
	CLONE("user", CLONE_NEWUSER), CLONE("mount", CLONE_NEWNS), CLONE("net", CLONE_NEWNET), CLONE("pid", CLONE_NEWPID),
	CLONE("uts", CLONE_NEWUTS), CLONE("ipc", CLONE_NEWIPC), CLONE("cgroup", CLONE_NEWCGROUP), CLONE("all", ALL_NAMESPACES),
	CLONE("user-high", CLONE_NEWUSER | HIGH_BIT), CLONE("user-files", CLONE_NEWUSER | CLONE_FILES),
	CLONE3("user", CLONE_NEWUSER), CLONE3("net", CLONE_NEWNET), CLONE3("time", CLONE_NEWTIME), CLONE3("all", ALL_NAMESPACES),
	JOIN("user"), JOIN("mnt"), JOIN("net"), JOIN("pid"), JOIN("uts"), JOIN("ipc"), JOIN("cgroup"), JOIN("time"),
	REJOIN("user"), REJOIN("mnt"), REJOIN("net"),
	BY_PIDFD("mount", CLONE_NEWNS), BY_PIDFD("all", ALL_NAMESPACES),
	CLIMB("parent-of-user", "/proc/self/ns/user", NS_GET_PARENT), CLIMB("parent-of-pid", "/proc/self/ns/pid", NS_GET_PARENT),
	CLIMB("owner-of-user", "/proc/self/ns/user", NS_GET_USERNS),
	CALL("set-host-name", "sethostname", "seccomp", E(EPERM), PROBE_SHOWN, SYS_sethostname, (unsigned long)"stolen", 6),
	CALL("set-domain-name", "setdomainname", "seccomp", E(EPERM), PROBE_SHOWN, SYS_setdomainname, (unsigned long)"stolen", 6),
};
/* clang-format on */
PROBE_TABLE_END(namespaces)
