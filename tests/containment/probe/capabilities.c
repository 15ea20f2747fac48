/* There are none. What each of the dangerous ones would give is tried all the same, where no filter refuses it before. */
#include "attempt.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/fs.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum { IO_REALTIME = 1 << 13 }; /* ioprio_set(2): the class stands above bit 13 */

/* A line "NAME: hex" of /proc/self/status that is not zero. */
static int see_set(const struct probe *probe)
{
	char line[256];
	FILE *file = fopen("/proc/self/status", "re");
	if (!file)
		return errno;
	int outcome = ENOENT;
	while (fgets(line, sizeof line, file))
		if (strncmp(line, probe->path, strlen(probe->path)) == 0)
			outcome = strtoull(line + strlen(probe->path) + 1, NULL, 16) ? OUTCOME_OPEN : OUTCOME_NOTHING;
	fclose(file);
	return outcome;
}

static int take_all(const struct probe *probe)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct words[_LINUX_CAPABILITY_U32S_3];
	memset(words, 0xff, sizeof words);
	if (probe->arguments[0])
		for (int i = 0; i < _LINUX_CAPABILITY_U32S_3; i++)
			words[i].permitted = words[i].effective = 0;
	return outcome_of(syscall(SYS_capset, &header, words));
}

static int make_immutable(const struct probe *probe)
{
	int flags = (int)probe->arguments[0], fd = open("/tmp/probe.flags", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0)
		return errno;
	int outcome = outcome_of(ioctl(fd, FS_IOC_SETFLAGS, &flags));
	close(fd);
	return outcome;
}

static int lease_shared_file(const struct probe *probe)
{
	int fd = open(probe->path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno;
	int outcome = outcome_of(fcntl(fd, F_SETLEASE, F_RDLCK));
	close(fd);
	return outcome;
}

static int be_realtime(const struct probe *probe)
{
	struct sched_param parameters = {.sched_priority = 1};
	return outcome_of(sched_setscheduler(0, (int)probe->arguments[0], &parameters));
}

static int wake_machine(const struct probe *probe)
{
	return outcome_of_fd(timerfd_create((clockid_t)probe->arguments[0], TFD_CLOEXEC));
}

static int lock_segment(const struct probe *probe)
{
	(void)probe;
	int id = shmget(IPC_PRIVATE, 1 << 20, IPC_CREAT | 0600);
	if (id < 0)
		return errno;
	int outcome = outcome_of(shmctl(id, SHM_LOCK, NULL));
	shmctl(id, IPC_RMID, NULL);
	return outcome;
}

static int raise_limit(const struct probe *probe)
{
	struct rlimit limit;
	int resource = (int)probe->arguments[0];
	if (getrlimit((__rlimit_resource_t)resource, &limit) < 0)
		return errno;
	if (limit.rlim_max == RLIM_INFINITY)
		return OUTCOME_OPEN;
	rlim_t before = limit.rlim_max++;
	if (setrlimit((__rlimit_resource_t)resource, &limit) < 0)
		return errno;
	getrlimit((__rlimit_resource_t)resource, &limit);
	return limit.rlim_max > before ? OUTCOME_OPEN : OUTCOME_NOTHING;
}

/* The one limit that is stricter at 1 than at 0: see core-to-host. */
static int lower_core_limit(const struct probe *probe)
{
	struct rlimit limit = {0, 0};
	(void)probe;
	if (setrlimit(RLIMIT_CORE, &limit) < 0)
		return errno;
	getrlimit(RLIMIT_CORE, &limit);
	return limit.rlim_max == 0 ? OUTCOME_OPEN : OUTCOME_NOTHING;
}

/* clang-format off */
#define SET(name_, set) PATH(name_, "is there a capability in " set, "capabilities", E(OUTCOME_NOTHING), see_set, set, 0)
#define RAISE(name_, resource) \
	{.name = name_, .attempt = "raise " #resource, .control = "rlimits", .expected = {EPERM, OUTCOME_NOTHING}, .run = raise_limit, .arguments = {resource}}
#define WITH(name_, attempt_, function, value, ...) \
	{.name = name_, .attempt = attempt_, .control = "capabilities", .expected = {__VA_ARGS__}, .run = function, .arguments = {value}}

const struct probe PROBES_capabilities[] = {
	SET("effective-set", "CapEff"), SET("permitted-set", "CapPrm"), SET("inheritable-set", "CapInh"), SET("bounding-set", "CapBnd"),
	SET("ambient-set", "CapAmb"),
	WITH("capset-all", "capset: all of them", take_all, 0, EPERM), WITH("capset-inheritable", "capset: all inheritable", take_all, 1, EPERM),
	CALL("ambient-raise", "PR_CAP_AMBIENT_RAISE", "capabilities", E(EPERM), 0, SYS_prctl, PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_SYS_ADMIN, 0, 0),
	WITH("immutable", "make a file immutable (LINUX_IMMUTABLE)", make_immutable, FS_IMMUTABLE_FL, EPERM, ENOTTY, EOPNOTSUPP),
	WITH("append-only", "make a file append-only (LINUX_IMMUTABLE)", make_immutable, FS_APPEND_FL, EPERM, ENOTTY, EOPNOTSUPP),
	PATH("lease", "a lease on a shared file (LEASE)", "capabilities", E(EACCES, EPERM, EAGAIN), lease_shared_file, "/usr/bin/env", 0),
	WITH("realtime-fifo", "SCHED_FIFO (SYS_NICE)", be_realtime, SCHED_FIFO, EPERM), WITH("realtime-rr", "SCHED_RR (SYS_NICE)", be_realtime, SCHED_RR, EPERM),
	CALL("nice", "a better priority (SYS_NICE)", "capabilities", E(EACCES, EPERM), 0, SYS_setpriority, PRIO_PROCESS, 0, (unsigned long)-5),
	CALL("io-realtime", "the real-time class of I/O (SYS_NICE)", "capabilities", E(EPERM), 0, SYS_ioprio_set, 1, 0, IO_REALTIME),
	WITH("wake-realtime", "a timer that wakes the machine (WAKE_ALARM)", wake_machine, CLOCK_REALTIME_ALARM, EPERM, EOPNOTSUPP, ENOTSUP, EINVAL),
	WITH("wake-boottime", "the same by CLOCK_BOOTTIME_ALARM", wake_machine, CLOCK_BOOTTIME_ALARM, EPERM, EOPNOTSUPP, ENOTSUP, EINVAL),
	RUN("lock-segment", "lock a segment over the limit (IPC_LOCK)", "rlimits", E(EPERM, ENOMEM, ENOSYS), 0, lock_segment),
	RUN("lower-core", "lower RLIMIT_CORE to 0, which lets the host's core handler run again", "seccomp", E(EPERM, OUTCOME_NOTHING), 0, lower_core_limit),
	RAISE("raise-core", RLIMIT_CORE), RAISE("raise-memlock", RLIMIT_MEMLOCK), RAISE("raise-msgqueue", RLIMIT_MSGQUEUE),
	RAISE("raise-nofile", RLIMIT_NOFILE), RAISE("raise-rtprio", RLIMIT_RTPRIO), RAISE("raise-nice", RLIMIT_NICE),
	RAISE("raise-sigpending", RLIMIT_SIGPENDING),
};
/* clang-format on */
PROBE_TABLE_END(capabilities)
