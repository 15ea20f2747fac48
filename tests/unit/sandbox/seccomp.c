#include "bpf.h"
#include "sandbox/seccomp.h"
#include "seccomp_list.h"
#include "story.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <seccomp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *const names[] = {
#define CALL(name, action) #name,
#include "sandbox/seccomp_table.def"
#undef CALL
};

enum { NAMES = sizeof names / sizeof names[0], NUMBERS = 1024 };

Test(seccomp, every_call_that_libseccomp_knows_was_considered_once)
{
	for (int number = 0; number < NUMBERS; number++) {
		char *name = seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, number);
		if (!name)
			continue;
		unsigned rows = 0;
		for (size_t i = 0; i < NAMES; i++)
			rows += strcmp(names[i], name) == 0;
		cr_assert_eq(rows, 1u, "%s stands in %u rows", name, rows);
		free(name);
	}
}

/* The table as libseccomp compiles it. */
static size_t compile_oracle(struct sock_filter *code, size_t size)
{
	static const char *const answers[] = {
#define CALL(name, action) #action,
#include "sandbox/seccomp_table.def"
#undef CALL
	};
	scmp_filter_ctx context = seccomp_init(SCMP_ACT_ERRNO(ENOSYS));
	cr_assert_not_null(context);
	for (size_t i = 0; i < NAMES; i++) {
		int number = seccomp_syscall_resolve_name(names[i]);
		if (number < 0 || strcmp(answers[i], "ENOSYS") == 0)
			continue;
		uint32_t action = strcmp(answers[i], "ALLOW") == 0     ? SCMP_ACT_ALLOW
		                  : strcmp(answers[i], "NOTHING") == 0 ? SCMP_ACT_ERRNO(0)
		                                                       : SCMP_ACT_ERRNO(EPERM);
		cr_assert_eq(seccomp_rule_add(context, action, number, 0), 0, "%s", names[i]);
	}
	seccomp_attr_set(context, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
	int fd = memfd_create("oracle", MFD_CLOEXEC);
	cr_assert_eq(seccomp_export_bpf(context, fd), 0);
	seccomp_release(context);
	ssize_t bytes = pread(fd, code, size, 0);
	cr_assert_gt(bytes, 0);
	close(fd);
	return (size_t)bytes / sizeof *code;
}

Test(seccomp, the_program_answers_as_libseccomps_does)
{
	static struct sock_filter ours[SECCOMP_INSTRUCTIONS], theirs[4096];
	size_t ours_length = seccomp_build(ours, SECCOMP_PROGRAM_DEFAULT);
	size_t theirs_length = compile_oracle(theirs, sizeof theirs);
	const uint32_t architectures[] = {seccomp_arch_native(), SCMP_ARCH_X86, SCMP_ARCH_AARCH64, 0};
	const int bases[] = {0, 0x40000000, -1, INT_MAX - NUMBERS, INT_MIN};
	for (size_t a = 0; a < sizeof architectures / sizeof architectures[0]; a++)
		for (size_t b = 0; b < sizeof bases / sizeof bases[0]; b++)
			for (int i = 0; i < NUMBERS + 100 && bases[b] <= INT_MAX - i; i++) {
				struct seccomp_data data = {.arch = architectures[a], .nr = bases[b] + i};
				if (seccomp_is_guarded(data.nr, SECCOMP_PROGRAM_DEFAULT))
					continue;
				uint32_t answer = bpf_answer(ours, ours_length, &data);
				uint32_t expected = bpf_answer(theirs, theirs_length, &data);
				cr_assert_eq(answer, expected, "arch %x call %d: %x, not %x", data.arch, data.nr, answer, expected);
			}
}

/* Whoever changes a row sees here what it changes. */
Test(seccomp, the_listing_is_as_it_was_reviewed)
{
	if (seccomp_arch_native() != SCMP_ARCH_X86_64)
		cr_skip_test("the listing is x86-64's");
	char *text = NULL, line[256];
	size_t size = 0, number = 0;
	FILE *made = open_memstream(&text, &size), *golden = fopen(GOLDEN, "re");
	cr_assert(made && golden, "%s: %s", GOLDEN, strerror(errno));
	seccomp_list_write(made);
	fclose(made);
	char *at = text;
	for (; fgets(line, sizeof line, golden); at += strlen(line))
		cr_assert(++number && strncmp(at, line, strlen(line)) == 0,
		          "line %zu is `%.*s`, not `%.*s`; where that is meant: seccomp-list >seccomp.golden", number,
		          (int)strcspn(at, "\n"), at, (int)strcspn(line, "\n"), line);
	cr_assert_eq(*at, '\0', "the listing has more lines: %.80s", at);
	fclose(golden);
	free(text);
}

static void confine_as(enum seccomp_program program);

static void confine(void)
{
	confine_as(SECCOMP_PROGRAM_DEFAULT);
}

static void confine_as(enum seccomp_program program)
{
	struct error err = {0};
	int fd = seccomp_compile(program, &err);
	EXPECT(fd >= 0, "%s", err.message);
	EXPECT(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, "%s", strerror(errno));
	EXPECT(seccomp_load_fd(fd, &err) == 0, "%s", err.message);
}

struct attempt {
	const char *name;
	long call;
	unsigned long arguments[6];
	int errnum; /* 0: allowed */
};

#define HIGH_BIT (1ul << 32)

/* Whatever these do must be harmless where the filter does not stop them, since then the test is what runs them. */
static const struct attempt attempts[] = {
	{"getppid", SYS_getppid, {0}, 0},
	{"a call of the future", 1000, {0}, ENOSYS},
	{"syncfs of nothing", SYS_syncfs, {(unsigned long)-1}, 0},
	{"clone3", SYS_clone3, {0}, ENOSYS},
	{"io_uring_setup", SYS_io_uring_setup, {1}, ENOSYS},
	{"userfaultfd", SYS_userfaultfd, {0}, ENOSYS},
	{"unshare", SYS_unshare, {0}, EPERM},
	{"setns", SYS_setns, {(unsigned long)-1}, EPERM},
	{"bpf", SYS_bpf, {1000}, EPERM},
	{"keyctl", SYS_keyctl, {1000}, EPERM},
	{"mount", SYS_mount, {0}, EPERM},
	{"setgroups", SYS_setgroups, {1000000}, EPERM},
	{"clone into a user namespace", SYS_clone, {CLONE_NEWUSER | CLONE_THREAD}, EPERM},
	{"clone into a cgroup namespace", SYS_clone, {CLONE_NEWCGROUP | CLONE_THREAD}, EPERM},
	{"TIOCSTI", SYS_ioctl, {(unsigned long)-1, TIOCSTI}, EPERM},
	{"TIOCSTI with a high bit", SYS_ioctl, {(unsigned long)-1, TIOCSTI | HIGH_BIT}, EPERM},
	{"TIOCLINUX", SYS_ioctl, {(unsigned long)-1, TIOCLINUX}, EPERM},
	{"another ioctl", SYS_ioctl, {(unsigned long)-1, TIOCGWINSZ}, EBADF},
	{"personality, asked", SYS_personality, {0xffffffff}, 0},
	{"personality, set", SYS_personality, {0x0040000}, EPERM},
	{"socket AF_UNIX", SYS_socket, {AF_UNIX, SOCK_STREAM}, 0},
	{"socket AF_INET", SYS_socket, {AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 6}, 0},
	{"socket AF_INET6", SYS_socket, {AF_INET6, SOCK_DGRAM}, 0},
	{"socket AF_NETLINK route", SYS_socket, {AF_NETLINK, SOCK_RAW}, 0},
	{"socket AF_NETLINK audit", SYS_socket, {AF_NETLINK, SOCK_RAW, 9}, EPROTONOSUPPORT},
	{"socket AF_INET raw", SYS_socket, {AF_INET, SOCK_RAW, 1}, EPERM},
	{"socket AF_INET packet", SYS_socket, {AF_INET, SOCK_PACKET}, EPERM},
	{"socket AF_INET sctp", SYS_socket, {AF_INET, SOCK_STREAM, 132}, EPROTONOSUPPORT},
	{"socket AF_PACKET", SYS_socket, {AF_PACKET, SOCK_RAW}, EAFNOSUPPORT},
	{"socket AF_VSOCK", SYS_socket, {40, SOCK_STREAM}, EAFNOSUPPORT},
	{"socket AF_ALG", SYS_socket, {38, SOCK_SEQPACKET}, EAFNOSUPPORT},
	{"memfd_create of huge pages", SYS_memfd_create, {(unsigned long)"x", MFD_HUGETLB}, ENOSYS},
	{"shmget of huge pages", SYS_shmget, {0, 4096, SHM_HUGETLB}, ENOSYS},
	{"mmap of huge pages", SYS_mmap, {0, 4096, 0, MAP_HUGETLB | MAP_PRIVATE | MAP_ANONYMOUS}, ENOSYS},
	{"madvise MADV_MERGEABLE", SYS_madvise, {0, 0, MADV_MERGEABLE}, EINVAL},
	{"prctl PR_SET_MM", SYS_prctl, {PR_SET_MM}, EPERM},
	{"prctl PR_SET_SPECULATION_CTRL", SYS_prctl, {PR_SET_SPECULATION_CTRL, 0, 2}, EPERM},
	{"ptrace of init", SYS_ptrace, {PTRACE_SEIZE, 1}, EPERM},
	{"process_vm_readv of init", SYS_process_vm_readv, {1}, EPERM},
	{"prlimit of init", SYS_prlimit64, {1, RLIMIT_NOFILE}, EPERM},
	{"prlimit, asked", SYS_prlimit64, {0, RLIMIT_CORE, 0, 0}, 0},
	{"prlimit of cores", SYS_prlimit64, {0, RLIMIT_CORE, HIGH_BIT}, 0}, /* EFAULT, were it tried */
	{"setrlimit of cores", SYS_setrlimit, {RLIMIT_CORE, 1}, 0},
	{"sched_setaffinity of init", SYS_sched_setaffinity, {1}, EPERM},
	{"setpriority of init", SYS_setpriority, {PRIO_PROCESS, 1, 19}, EPERM},
	{"setpriority of a user", SYS_setpriority, {PRIO_USER, 0, 19}, EPERM},
	{"setpriority of itself", SYS_setpriority, {PRIO_PROCESS, 0, 19}, 0},
	{"ioprio_set of a user", SYS_ioprio_set, {3, 0, 0}, EPERM},
	{"fcntl F_NOTIFY", SYS_fcntl, {0, F_NOTIFY}, EPERM},
	{"fcntl F_GETFD", SYS_fcntl, {0, F_GETFD}, 0},
	{"preadv2 RWF_NOWAIT", SYS_preadv2, {0, 0, 0, 0, 0, RWF_NOWAIT}, EOPNOTSUPP},
	{"socketpair AF_TIPC", SYS_socketpair, {30, SOCK_STREAM}, EAFNOSUPPORT},
};

static void try_rows(const struct attempt *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct attempt *attempt = &rows[i];
		errno = 0;
		long result = syscall(attempt->call, attempt->arguments[0], attempt->arguments[1], attempt->arguments[2],
		                      attempt->arguments[3], attempt->arguments[4], attempt->arguments[5]);
		int errnum = result < 0 ? errno : 0;
		EXPECT(errnum == attempt->errnum, "%s: %s", attempt->name, strerrorname_np(errnum));
	}
}

static void try_each(void)
{
	confine();
	try_rows(attempts, sizeof attempts / sizeof attempts[0]);
}

Test(seccomp, what_a_process_tries_is_answered_as_the_table_says)
{
	story_run(STORY_USER, try_each);
}

static void *nothing(void *argument)
{
	return argument;
}

static const struct attempt computing[] = {
	{"fork", SYS_fork, {0}, EPERM},
	{"vfork", SYS_vfork, {0}, EPERM},
	{"clone of a process", SYS_clone, {0}, EPERM},
	{"clone of a process with a high bit", SYS_clone, {HIGH_BIT}, EPERM},
	{"socket AF_INET", SYS_socket, {AF_INET, SOCK_STREAM}, EAFNOSUPPORT},
	{"socket AF_NETLINK", SYS_socket, {AF_NETLINK, SOCK_RAW}, EAFNOSUPPORT},
	{"socket AF_UNIX", SYS_socket, {AF_UNIX, SOCK_STREAM}, 0},
	{"ptrace", SYS_ptrace, {PTRACE_TRACEME}, EPERM},
	{"unshare", SYS_unshare, {0}, EPERM},
};

static const struct attempt building[] = {
	{"personality ADDR_NO_RANDOMIZE", SYS_personality, {0x0040000}, 0},
	{"personality of another kind", SYS_personality, {0x0020000}, EPERM},
	{"socket AF_INET", SYS_socket, {AF_INET, SOCK_STREAM}, EAFNOSUPPORT},
	{"socket AF_UNIX", SYS_socket, {AF_UNIX, SOCK_STREAM}, 0},
};

static void compute(void)
{
	confine();
	confine_as(SECCOMP_PROGRAM_COMPUTE);
	try_rows(computing, sizeof computing / sizeof computing[0]);
	pthread_t thread;
	EXPECT(pthread_create(&thread, NULL, nothing, NULL) == 0 && pthread_join(thread, NULL) == 0, "thread");
}

Test(seccomp, computing_is_one_program_with_its_threads)
{
	story_run(STORY_USER, compute);
}

static void build(void)
{
	/* Where these tests run in a sandbox of their own, its filter refuses the first row whatever the profile is. */
	size_t first = syscall(building[0].call, building[0].arguments[0]) < 0 ? 1 : 0;
	confine_as(SECCOMP_PROGRAM_BUILD);
	try_rows(building + first, sizeof building / sizeof building[0] - first);
	EXPECT(system("exit 3") >> 8 == 3, "system");
}

Test(seccomp, building_has_processes_and_no_network)
{
	story_run(STORY_USER, build);
}

static void start_things(void)
{
	confine();
	pid_t pid = fork();
	if (pid == 0)
		_exit(7);
	int status = 0;
	EXPECT(waitpid(pid, &status, 0) == pid && WEXITSTATUS(status) == 7, "fork");
	EXPECT(system("exit 3") >> 8 == 3, "system");
	pthread_t thread;
	EXPECT(pthread_create(&thread, NULL, nothing, NULL) == 0 && pthread_join(thread, NULL) == 0, "thread");
}

Test(seccomp, forks_shells_and_threads_still_work_without_clone3)
{
	story_run(STORY_USER, start_things);
}

static void stack(void)
{
	confine();
	start_things();
	try_each();
}

Test(seccomp, it_can_be_loaded_a_second_time)
{
	story_run(STORY_USER, stack);
}

Test(seccomp, a_program_is_sealed)
{
	struct error err = {0};
	int fd = seccomp_compile(SECCOMP_PROGRAM_DEFAULT, &err);
	cr_assert_geq(fd, 0, "%s", err.message);
	cr_assert_eq(write(fd, "x", 1), -1);
	cr_assert_eq(ftruncate(fd, 0), -1);
	struct stat st;
	cr_assert_eq(fstat(fd, &st), 0);
	cr_assert_lt((size_t)st.st_size / sizeof(struct sock_filter), 512u, "a program that every process carries");
}
