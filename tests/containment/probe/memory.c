/* Memory, limits of a process, and features of the kernel that reach further than a process. */
#include "attempt.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef MADV_SOFT_OFFLINE
#define MADV_SOFT_OFFLINE 101
#endif

enum { MIB = 1 << 20 };

static int map_zero(const struct probe *probe)
{
	(void)probe;
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	return page == MAP_FAILED ? errno : OUTCOME_OPEN;
}

static int map_huge(const struct probe *probe)
{
	(void)probe;
	void *page = mmap(NULL, 2 * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
	return page == MAP_FAILED ? errno : OUTCOME_OPEN;
}

static int lock_memory(const struct probe *probe)
{
	(void)probe;
	void *block = mmap(NULL, 16 * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return block == MAP_FAILED ? errno : outcome_of(mlock(block, 16 * MIB));
}

static int advise(const struct probe *probe)
{
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return page == MAP_FAILED ? errno : outcome_of(madvise(page, 4096, (int)probe->number));
}

/* A core_pattern that begins with `|` starts a program on the host, as root, whatever the limit is, but for a limit of
 * exactly 1 (core(5) does not tell; fs/coredump.c does). */
static int dump_to_host(const struct probe *probe)
{
	char byte = 0;
	struct rlimit limit;
	int fd = open(probe->path, O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? 0 : read(fd, &byte, 1);
	if (fd >= 0)
		close(fd);
	if (getrlimit(RLIMIT_CORE, &limit) < 0)
		return errno;
	bool is_pipe = got == 1 && byte == '|';
	return is_pipe && limit.rlim_max != 1 ? OUTCOME_OPEN : OUTCOME_NOTHING;
}

/* A core file of our own: never a byte. */
static int dump_to_file(const struct probe *probe)
{
	struct rlimit limit;
	(void)probe;
	if (getrlimit(RLIMIT_CORE, &limit) < 0)
		return errno;
	return limit.rlim_max > 1 ? OUTCOME_OPEN : OUTCOME_NOTHING;
}

static int huge_file(const struct probe *probe)
{
	return outcome_of_fd((int)syscall(SYS_memfd_create, "probe", probe->arguments[0]));
}

static int grow_pipe(const struct probe *probe)
{
	int ends[2];
	(void)probe;
	if (pipe2(ends, O_CLOEXEC) < 0)
		return errno;
	return outcome_of(fcntl(ends[1], F_SETPIPE_SZ, 64 * MIB));
}

/* clang-format off */
#define ADVISE(name, advice) PATH(name, #advice, "capabilities", E(EPERM, EINVAL), advise, NULL, advice)

const struct probe PROBES_memory[] = {
	RUN("map-zero", "map address 0, where the kernel may follow a null pointer", "kernel", E(EPERM, EACCES), 0, map_zero),
	RUN("map-huge", "map huge pages, which the host has reserved", "kernel", E(ENOMEM, EPERM, EINVAL, ENOSYS), 0, map_huge),
	RUN("lock-memory", "lock 16 MiB", "rlimits", E(ENOMEM, EPERM, EAGAIN), 0, lock_memory),
	CALL("lock-everything", "mlockall", "rlimits", E(ENOMEM, EPERM), 0, SYS_mlockall, MCL_CURRENT | MCL_FUTURE),
	ADVISE("poison", MADV_HWPOISON), ADVISE("soft-offline", MADV_SOFT_OFFLINE),
	PATH("core-to-host", "crash into the host's core handler", "rlimits", E(OUTCOME_NOTHING), dump_to_host, "/proc/sys/kernel/core_pattern", 0),
	RUN("core-to-file", "leave a core file", "rlimits", E(OUTCOME_NOTHING), 0, dump_to_file),
	{.name = "memfd-huge", .attempt = "a memfd of huge pages", .control = "seccomp", .expected = {EPERM, EINVAL, ENOSYS, ENODEV}, .run = huge_file, .arguments = {MFD_CLOEXEC | MFD_HUGETLB}},
	RUN("grow-pipe", "a pipe of 64 MiB", "capabilities", E(EPERM), 0, grow_pipe),
};
/* clang-format on */
PROBE_TABLE_END(memory)
