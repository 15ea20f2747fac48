/*
 * /proc and /sys. What is read here tells of the kernel and of others; what is opened for writing would rule the host
 * (nothing is ever written). Where a kernel lacks a file, ENOENT is as good.
 */
#include "attempt.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TEXT_MOST = 65536 };

/* The whole text of PATH; false with errno. */
static bool read_all(const char *path, char text[TEXT_MOST])
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	size_t length = 0;
	ssize_t got;
	while (length < TEXT_MOST - 1 && (got = read(fd, text + length, TEXT_MOST - 1 - length)) > 0)
		length += (size_t)got;
	text[length] = '\0';
	close(fd);
	return true;
}

/* A line that names a place of the host: what a namespace of cgroups hides. */
static int see_cgroups(const struct probe *probe)
{
	static char text[TEXT_MOST];
	if (!read_all(probe->path, text))
		return errno;
	return strstr(text, "sandbar-") || strstr(text, ".slice") || strstr(text, "/../..") ? OUTCOME_OPEN
	                                                                                    : OUTCOME_NOTHING;
}

/* Addresses that are not all zero. */
static int see_addresses(const struct probe *probe)
{
	static char text[TEXT_MOST];
	if (!read_all(probe->path, text))
		return errno;
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
		if (strtoull(line, NULL, 16) != 0)
			return OUTCOME_OPEN;
	return OUTCOME_NOTHING;
}

/* Physical addresses of our own pages, which Rowhammer needs: the numbers must read as zero. */
static int see_frames(const struct probe *probe)
{
	uint64_t entry = 0;
	uintptr_t page = (uintptr_t)&entry / (uintptr_t)sysconf(_SC_PAGESIZE);
	int fd = open(probe->path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno;
	ssize_t got = pread(fd, &entry, sizeof entry, (off_t)(page * sizeof entry));
	close(fd);
	return got == sizeof entry && (entry & ((UINT64_C(1) << 55) - 1)) ? OUTCOME_OPEN : OUTCOME_NOTHING;
}

/* Locks of processes that are not ours. */
static int see_lines(const struct probe *probe)
{
	static char text[TEXT_MOST];
	if (!read_all(probe->path, text))
		return errno;
	return text[0] ? OUTCOME_OPEN : OUTCOME_NOTHING;
}

/* Writes VALUE where it is known to be harmless, or refused, for ourselves alone. */
static int write_text(const char *path, const char *value)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return errno;
	int outcome = outcome_of(write(fd, value, strlen(value)));
	close(fd);
	return outcome;
}

static int escape_oom_killer(const struct probe *probe)
{
	return write_text(probe->path, "-1000");
}

static int map_another_id(const struct probe *probe)
{
	return write_text(probe->path, "0 0 1");
}

/* A trigger makes the kernel watch the host's pressure for us. */
static int watch_pressure(const struct probe *probe)
{
	return write_text(probe->path, "some 500000 2000000");
}

/* clang-format off */
#define MASKED E(OUTCOME_NOTHING, EACCES, EPERM, ENOENT)
#define CLOSED E(EACCES, EROFS, ENOENT, OUTCOME_NOTHING)
#define OF_1 E(EACCES, ENOENT, EPERM, OUTCOME_NOTHING)
#define SECRET(name, path) READ("read-" name, "proc mask", MASKED, path)
#define SYSCTL(name, path) WRITE("write-" name, "proc mask", CLOSED, path)
#define INIT_FILE(name, path) READ("read-1-" name, "init", OF_1, path)
#define SYS(name, path) PATH("sys-" name, "look at " path, "root", E(ENOENT, EACCES), attempt_absent, path, 0)

const struct probe PROBES_proc[] = {
	SECRET("kcore", "/proc/kcore"), SECRET("keys", "/proc/keys"), SECRET("key-users", "/proc/key-users"),
	SECRET("timer-list", "/proc/timer_list"), SECRET("timer-stats", "/proc/timer_stats"), SECRET("sched-debug", "/proc/sched_debug"),
	SECRET("kmsg", "/proc/kmsg"), SECRET("vmallocinfo", "/proc/vmallocinfo"), SECRET("pagetypeinfo", "/proc/pagetypeinfo"),
	SECRET("slabinfo", "/proc/slabinfo"), SECRET("kallsyms", "/proc/kallsyms"), SECRET("kpagecount", "/proc/kpagecount"),
	SECRET("kpageflags", "/proc/kpageflags"), SECRET("kpagecgroup", "/proc/kpagecgroup"), SECRET("latency-stats", "/proc/latency_stats"),
	SECRET("cmdline", "/proc/cmdline"), SECRET("interrupts", "/proc/interrupts"), SECRET("softirqs", "/proc/softirqs"),
	SECRET("partitions", "/proc/partitions"), SECRET("diskstats", "/proc/diskstats"), SECRET("modules", "/proc/modules"),
	SECRET("mdstat", "/proc/mdstat"), SECRET("swaps-devices", "/proc/scsi/scsi"), SECRET("acpi", "/proc/acpi/wakeup"),
	SECRET("mtrr", "/proc/mtrr"), SECRET("driver", "/proc/driver/rtc"), SECRET("tty-drivers", "/proc/tty/driver/serial"),
	SECRET("schedstat", "/proc/schedstat"), SECRET("zoneinfo", "/proc/zoneinfo"), SECRET("buddyinfo", "/proc/buddyinfo"),
	PATH("read-iomem", "addresses in /proc/iomem", "kernel", MASKED, see_addresses, "/proc/iomem", 0),
	PATH("read-ioports", "addresses in /proc/ioports", "kernel", MASKED, see_addresses, "/proc/ioports", 0),
	PATH("read-pagemap", "physical addresses in /proc/self/pagemap", "capabilities", MASKED, see_frames, "/proc/self/pagemap", 0),
	READ("read-own-stack", "capabilities", MASKED, "/proc/self/stack"),
	PATH("read-cgroup", "places of the host in /proc/self/cgroup", "namespace", E(OUTCOME_NOTHING), see_cgroups, "/proc/self/cgroup", 0),
	PATH("read-locks", "others' locks in /proc/locks", "namespace", E(OUTCOME_NOTHING, EACCES, ENOENT), see_lines, "/proc/locks", 0),
	INIT_FILE("mem", "/proc/1/mem"), INIT_FILE("environ", "/proc/1/environ"), INIT_FILE("maps", "/proc/1/maps"),
	INIT_FILE("stack", "/proc/1/stack"), INIT_FILE("syscall", "/proc/1/syscall"), INIT_FILE("auxv", "/proc/1/auxv"),
	INIT_FILE("io", "/proc/1/io"), INIT_FILE("pagemap", "/proc/1/pagemap"), INIT_FILE("exe", "/proc/1/exe"),
	INIT_FILE("smaps", "/proc/1/smaps"), INIT_FILE("personality", "/proc/1/personality"),
	PATH("list-1-fd", "list /proc/1/fd", "init", OF_1, attempt_list, "/proc/1/fd", 0),
	PATH("list-1-root", "list /proc/1/root", "init", OF_1, attempt_list, "/proc/1/root", 0),
	PATH("list-1-cwd", "list /proc/1/cwd", "init", OF_1, attempt_list, "/proc/1/cwd", 0),
	PATH("list-1-map-files", "list /proc/1/map_files", "init", OF_1, attempt_list, "/proc/1/map_files", 0),
	SYSCTL("sysrq-trigger", "/proc/sysrq-trigger"), SYSCTL("core-pattern", "/proc/sys/kernel/core_pattern"),
	SYSCTL("modprobe", "/proc/sys/kernel/modprobe"), SYSCTL("sysrq", "/proc/sys/kernel/sysrq"), SYSCTL("panic", "/proc/sys/kernel/panic"),
	SYSCTL("hostname", "/proc/sys/kernel/hostname"), SYSCTL("last-pid", "/proc/sys/kernel/ns_last_pid"),
	SYSCTL("randomize", "/proc/sys/kernel/randomize_va_space"), SYSCTL("ptrace-scope", "/proc/sys/kernel/yama/ptrace_scope"),
	SYSCTL("unprivileged-bpf", "/proc/sys/kernel/unprivileged_bpf_disabled"), SYSCTL("perf-paranoid", "/proc/sys/kernel/perf_event_paranoid"),
	SYSCTL("pid-max", "/proc/sys/kernel/pid_max"), SYSCTL("shmmax", "/proc/sys/kernel/shmmax"), SYSCTL("shmall", "/proc/sys/kernel/shmall"), SYSCTL("sem", "/proc/sys/kernel/sem"), SYSCTL("queues", "/proc/sys/kernel/msgmni"),
	SYSCTL("mqueue", "/proc/sys/fs/mqueue/queues_max"), SYSCTL("core-uses", "/proc/sys/kernel/core_pipe_limit"),
	SYSCTL("overcommit", "/proc/sys/vm/overcommit_memory"), SYSCTL("drop-caches", "/proc/sys/vm/drop_caches"),
	SYSCTL("swappiness", "/proc/sys/vm/swappiness"), SYSCTL("panic-on-oom", "/proc/sys/vm/panic_on_oom"),
	SYSCTL("mmap-min", "/proc/sys/vm/mmap_min_addr"), SYSCTL("compact", "/proc/sys/vm/compact_memory"),
	SYSCTL("binfmt", "/proc/sys/fs/binfmt_misc/register"), SYSCTL("protected-links", "/proc/sys/fs/protected_symlinks"),
	SYSCTL("file-max", "/proc/sys/fs/file-max"), SYSCTL("pipe-max", "/proc/sys/fs/pipe-max-size"), SYSCTL("suid-dump", "/proc/sys/fs/suid_dumpable"),
	SYSCTL("user-namespaces", "/proc/sys/user/max_user_namespaces"), SYSCTL("forward", "/proc/sys/net/ipv4/ip_forward"),
	SYSCTL("somaxconn", "/proc/sys/net/core/somaxconn"), SYSCTL("low-ports", "/proc/sys/net/ipv4/ip_unprivileged_port_start"),
	SYSCTL("ping-group", "/proc/sys/net/ipv4/ping_group_range"), SYSCTL("legacy-tiocsti", "/proc/sys/dev/tty/legacy_tiocsti"),
	SYSCTL("ldisc-autoload", "/proc/sys/dev/tty/ldisc_autoload"), SYSCTL("irq-affinity", "/proc/irq/default_smp_affinity"),
	SYSCTL("mtrr", "/proc/mtrr"), SYSCTL("timer-slack-1", "/proc/1/timerslack_ns"), SYSCTL("comm-1", "/proc/1/comm"),
	SYSCTL("oom-1", "/proc/1/oom_score_adj"), SYSCTL("group-1", "/proc/1/autogroup"), SYSCTL("core-filter-1", "/proc/1/coredump_filter"),
	SYSCTL("references-1", "/proc/1/clear_refs"), SYSCTL("mem-1", "/proc/1/mem"), SYSCTL("login-id-1", "/proc/1/loginuid"), SYSCTL("cgroup-procs", "/sys/fs/cgroup/cgroup.procs"),
	SYSCTL("latency", "/proc/latency_stats"), SYSCTL("kcore", "/proc/kcore"), SYSCTL("version", "/proc/version"),
	PATH("lower-oom", "write -1000 into /proc/self/oom_score_adj", "capabilities", E(EACCES, EPERM), escape_oom_killer, "/proc/self/oom_score_adj", 0),
	PATH("map-uid", "write a second map of user ids", "namespace", E(EPERM, EACCES), map_another_id, "/proc/self/uid_map", 0),
	PATH("map-gid", "write a second map of group ids", "namespace", E(EPERM, EACCES), map_another_id, "/proc/self/gid_map", 0),
	PATH("allow-setgroups", "allow setgroups(2) again", "namespace", E(EPERM, EACCES, EINVAL), map_another_id, "/proc/self/setgroups", 0),
	PATH("move-time", "write /proc/self/timens_offsets", "namespace", E(EPERM, EACCES, EINVAL, ENOENT), map_another_id, "/proc/self/timens_offsets", 0),
	PATH("watch-memory-pressure", "set a trigger on the host's memory pressure", "proc mask", CLOSED, watch_pressure, "/proc/pressure/memory", 0),
	PATH("watch-cpu-pressure", "set a trigger on the host's processor pressure", "proc mask", CLOSED, watch_pressure, "/proc/pressure/cpu", 0),
	SYS("kernel", "/sys/kernel/uevent_helper"), SYS("debug", "/sys/kernel/debug"), SYS("tracing", "/sys/kernel/tracing"),
	SYS("security", "/sys/kernel/security"), SYS("cgroup", "/sys/fs/cgroup"), SYS("bpf", "/sys/fs/bpf"), SYS("power", "/sys/power/state"),
	SYS("efi", "/sys/firmware/efi"), SYS("devices", "/sys/devices"), SYS("block", "/sys/block"), SYS("class", "/sys/class"),
	SYS("release-agent", "/sys/fs/cgroup/memory/release_agent"), SYS("modules", "/sys/module"),
};
/* clang-format on */
PROBE_TABLE_END(proc)
