/*
 * child.c: what the child does between clone3(2) and init, in order, and why in this order.
 *
 *  1 ids         First of all: until the maps are written the process is nobody in its own namespace and may do
 *                nothing there. As root it waits for the parent to write them and becomes 0:0; as a normal user it
 *                writes its own (one id, which is the users' inside, setgroups denied) and stays who it is.
 *  2 life        PDEATHSIG after the last change of credentials, since that clears it; then a look whether the parent
 *                died before.
 *  3 rlimits     Lowered while nothing depends on them yet.
 *  4 names, lo, clocks   Need only the capabilities in the own namespaces; the clocks also the host's proc.
 *  5 proc        Made (not attached) while the host's proc is still visible: the kernel demands that.
 *  6 root        From here on no path of the host can be named.
 *  7 proc, pts, workspace attached; the masks need the new /dev/null.
 *  8 cgroup ns   Its root is the cgroup one stands in, so that nothing of the host's path shows inside: on v2 we were
 *                cloned into session/init; into v1's groups the parent moves us meanwhile.
 *  9 no_new_privs, then the descriptors: everything but 0-6 is closed. Nothing of the host is reachable any more.
 * 10 exec        Init drops what it does not need and confines itself (init/boot.h).
 *
 * A step that fails is told to the parent by name and errno, and the process ends. With no socket the steps are only
 * tried (probe.c); then the last ones are what init would put on: Landlock, and the users' seccomp program.
 */
#include "child.h"
#include "landlock.h"
#include "sandbox/init/boot.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/securebits.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { EXEC_FD = 7, REPORT_FD = 8, FIRST_UNUSED_FD = 9, PARKED_FD = 16, EXIT_SETUP_FAILED = 125 };

struct child_step {
	const char *name;
	int layer; /* that it puts on; -1 where it is only a part of one */
	int (*run)(struct child_setup *setup, struct error *err);
};

struct rlimit_row {
	int resource;
	rlim_t most;
};

/* RLIMIT_NOFILE and RLIMIT_FSIZE are put on by init, for users alone. Of RLIMIT_CORE 1 is less than 0: seccomp_guard.c. */
static const struct rlimit_row rlimits[] = {
	{RLIMIT_CORE, 1}, {RLIMIT_MEMLOCK, 64 * 1024}, {RLIMIT_MSGQUEUE, 800 * 1024}, {RLIMIT_RTPRIO, 0},
	{RLIMIT_NICE, 0}, {RLIMIT_SIGPENDING, 4096},
};

static int wait_for_parent(struct child_setup *setup, const char *what, struct error *err)
{
	char byte;
	ssize_t n;
	do {
		n = read(setup->sync, &byte, 1);
	} while (n < 0 && errno == EINTR);
	return n == 1 ? 0 : error_set(err, n < 0 ? errno : 0, "%s", what);
}

static int take_ids(struct child_setup *setup, struct error *err)
{
	const struct sandbox_host *host = setup->host;
	if (!host->has_ranges)
		return id_single_map((struct id_pair){setup->user, setup->user}, host->own, err);
	if (wait_for_parent(setup, "the id maps were not written", err) < 0)
		return -1;
	if (setgroups(0, NULL) < 0 || setresgid(0, 0, 0) < 0 || setresuid(0, 0, 0) < 0)
		return error_set(err, errno, "become root inside");
	return 0;
}

static int die_with_parent(struct child_setup *setup, struct error *err)
{
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
		return error_set(err, errno, "PR_SET_PDEATHSIG");
	struct pollfd reader = {.fd = setup->report};
	if (poll(&reader, 1, 0) > 0 && (reader.revents & POLLERR))
		return error_set(err, 0, "the parent is gone");
	return 0;
}

static int lower(int resource, rlim_t most, struct error *err)
{
	struct rlimit limit;
	if (getrlimit((__rlimit_resource_t)resource, &limit) < 0)
		return error_set(err, errno, "getrlimit %d", resource);
	limit.rlim_max = limit.rlim_max < most ? limit.rlim_max : most;
	limit.rlim_cur = limit.rlim_max;
	if (setrlimit((__rlimit_resource_t)resource, &limit) < 0)
		return error_set(err, errno, "setrlimit %d", resource);
	return 0;
}

/* RLIMIT_NPROC counts a user's tasks within the user namespace (Linux 5.14): where no cgroup can, it limits the
 * sandbox's. Init, where it has the same id, is one of them. */
static int lower_rlimits(struct child_setup *setup, struct error *err)
{
	for (size_t i = 0; i < sizeof rlimits / sizeof rlimits[0]; i++)
		if (lower(rlimits[i].resource, rlimits[i].most, err) < 0)
			return -1;
	if (setup->host->report.layers[LAYER_CGROUP_PIDS].on)
		return 0;
	return lower(RLIMIT_NPROC, (rlim_t)setup->limits->processes + 1, err);
}

static int enter_cgroup_namespace(struct child_setup *setup, struct error *err)
{
	if (setup->waits_for_groups && wait_for_parent(setup, "the v1 cgroups were not joined", err) < 0)
		return -1;
	return unshare(CLONE_NEWCGROUP) == 0 ? 0 : error_set(err, errno, "unshare the cgroup namespace");
}

static int name_host(struct child_setup *setup, struct error *err)
{
	if (sethostname(setup->hostname, strlen(setup->hostname)) < 0)
		return error_set(err, errno, "sethostname");
	return 0;
}

/* An undumpable process's own proc files belong to the real root: it is made dumpable for as long as the opening takes. */
static int open_own(const char *path)
{
	int dumpable = prctl(PR_GET_DUMPABLE);
	prctl(PR_SET_DUMPABLE, 1);
	int fd = open(path, O_WRONLY | O_CLOEXEC), errnum = errno;
	prctl(PR_SET_DUMPABLE, dumpable == 1 ? 1 : 0);
	errno = errnum;
	return fd;
}

/* The clocks since boot begin now. On Linux before 6.3 what init executes is still in the old namespace; its children are not. */
static int begin_clocks(struct child_setup *setup, struct error *err)
{
	if (!setup->limits->own_time)
		return 0;
	struct timespec monotonic, boot;
	char text[96];
	if (unshare(CLONE_NEWTIME) < 0)
		return error_set(err, errno, "unshare the time namespace");
	clock_gettime(CLOCK_MONOTONIC, &monotonic);
	clock_gettime(CLOCK_BOOTTIME, &boot);
	int length = snprintf(text, sizeof text, "monotonic -%lld 0\nboottime -%lld 0\n", (long long)monotonic.tv_sec,
	                      (long long)boot.tv_sec);
	int fd = open_own("/proc/self/timens_offsets");
	ssize_t n = fd < 0 ? -1 : write(fd, text, (size_t)length);
	int errnum = errno;
	if (fd >= 0)
		close(fd);
	return n == length ? 0 : error_set(err, errnum, "write `/proc/self/timens_offsets`");
}

static int raise_loopback(struct child_setup *setup, struct error *err)
{
	(void)setup;
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return error_set(err, errno, "socket");
	struct ifreq request = {.ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING};
	int result = ioctl(fd, SIOCSIFFLAGS, &request) < 0 ? error_set(err, errno, "raise `lo`") : 0;
	close(fd);
	return result;
}

/* As root init itself empties the bounding set when it drops what it has. With a single id it executes without any
 * capability, which it needs for that, and may be 0 inside: that alone must give it none either. */
static int forbid_privileges(struct child_setup *setup, struct error *err)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return error_set(err, errno, "PR_SET_NO_NEW_PRIVS");
	if (setup->host->has_ranges)
		return 0;
	if (prctl(PR_SET_SECUREBITS, SECBIT_NOROOT | SECBIT_NOROOT_LOCKED) < 0)
		return error_set(err, errno, "PR_SET_SECUREBITS");
	for (int capability = 0; prctl(PR_CAPBSET_READ, capability, 0, 0, 0) >= 0; capability++)
		if (prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) < 0)
			return error_set(err, errno, "PR_CAPBSET_DROP %d", capability);
	return 0;
}

/* Ignored signals and the mask would be inherited through every exec. */
static void reset_signals(void)
{
	for (int signo = 1; signo < NSIG; signo++)
		signal(signo, SIG_DFL);
	sigset_t none;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* First out of the way of the numbers that init wants, then to them. */
static int place_descriptors(struct child_setup *setup, struct error *err)
{
	const struct sandbox_host *host = setup->host;
	enum profile profile = (enum profile)setup->limits->profile;
	int of_users = host->filters[seccomp_program_of_users(profile)];
	int of_init = host->filters[seccomp_program_of_init(profile)];
	int from[] = {setup->socket, of_users, of_init, setup->init_proc, host->init_fd, setup->report};
	const int to[] = {INIT_SOCKET_FD, INIT_USER_FILTER_FD, INIT_OWN_FILTER_FD, INIT_PROC_FD, EXEC_FD, REPORT_FD};
	enum { MOVES = sizeof to / sizeof to[0] };
	for (int i = 0; i < MOVES; i++) {
		from[i] = fcntl(from[i], F_DUPFD_CLOEXEC, PARKED_FD);
		if (from[i] < 0)
			return error_set(err, errno, "duplicate a descriptor for init");
	}
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (null < 0)
		return error_set(err, errno, "open `/dev/null` inside");
	for (int fd = 0; fd <= 2; fd++)
		if (dup2(null, fd) < 0)
			return error_set(err, errno, "place descriptor %d", fd);
	for (int i = 0; i < MOVES; i++)
		if (dup3(from[i], to[i], to[i] >= EXEC_FD ? O_CLOEXEC : 0) < 0)
			return error_set(err, errno, "place descriptor %d", to[i]);
	setup->report = REPORT_FD;
	if (close_range(FIRST_UNUSED_FD, UINT_MAX, 0) < 0)
		return error_set(err, errno, "close_range");
	return 0;
}

static int execute_init(struct child_setup *setup, struct error *err)
{
	if (place_descriptors(setup, err) < 0)
		return -1;
	umask(022);
	reset_signals();
	char id[16], open_files[16], file_size[24];
	snprintf(id, sizeof id, "%" PRIu32, setup->user);
	snprintf(open_files, sizeof open_files, "%" PRIu32, setup->limits->open_files);
	snprintf(file_size, sizeof file_size, "%" PRIu64, setup->limits->file_size);
	char *const argv[INIT_ARGUMENTS + 1] = {"init", id, id, open_files, file_size, NULL};
	char *const envp[] = {NULL};
	syscall(SYS_execveat, EXEC_FD, "", argv, envp, AT_EMPTY_PATH);
	return error_set(err, errno, "execute init");
}

static int try_landlock(struct child_setup *setup, struct error *err)
{
	int abi = landlock_put_on(setup->init_proc);
	if (abi < 0)
		return error_set(err, errno, "put on Landlock");
	setup->landlock_abi = abi;
	return 0;
}

static int try_filter(struct child_setup *setup, struct error *err)
{
	if (seccomp_load_fd(setup->host->filters[SECCOMP_PROGRAM_DEFAULT], err) < 0)
		return -1;
	setup->notes |= seccomp_can_listen() ? CHILD_TELLS_REFUSALS : 0;
	return 0;
}

static const struct child_step steps[] = {
	{"user ids", LAYER_USER, take_ids},
	{"parent", LAYER_PID, die_with_parent},
	{"resource limits", LAYER_RLIMITS, lower_rlimits},
	{"host name", LAYER_UTS, name_host},
	{"loopback", LAYER_NETWORK, raise_loopback},
	{"clocks", -1, begin_clocks},
	{"proc", -1, child_make_proc},
	{"root", LAYER_MOUNT, child_enter_root},
	{"proc", LAYER_PROC, child_attach_proc},
	{"message queues", -1, child_mount_queues},
	{"terminals", LAYER_DEV, child_mount_terminals},
	{"workspace", LAYER_ROOT, child_mount_workspace},
	{"cgroup namespace", LAYER_CGROUP_NS, enter_cgroup_namespace},
	{"no_new_privs", LAYER_CAPABILITIES, forbid_privileges},
};

enum { STEPS = sizeof steps / sizeof steps[0] };

static const struct child_step last_step = {"init", -1, execute_init};
static const struct child_step tries[] = {
	{"landlock", LAYER_LANDLOCK, try_landlock},
	{"seccomp", LAYER_SECCOMP, try_filter},
};

enum { TRIES = sizeof tries / sizeof tries[0] };

int child_step_count(void)
{
	return STEPS + TRIES;
}

int child_step_layer(int step)
{
	return step < STEPS ? steps[step].layer : tries[step - STEPS].layer;
}

_Noreturn void child_run(struct child_setup *setup)
{
	struct child_report report = {0};
	for (; report.done < child_step_count(); report.done++) {
		const struct child_step *step = report.done < STEPS  ? &steps[report.done]
		                                : setup->socket >= 0 ? &last_step
		                                                     : &tries[report.done - STEPS];
		if (step->run(setup, &report.error) < 0) {
			error_prefix(&report.error, "%s", step->name);
			break;
		}
	}
	report.notes = setup->notes;
	report.landlock_abi = setup->landlock_abi;
	ssize_t n = write(setup->report, &report, sizeof report);
	_exit(n == (ssize_t)sizeof report ? EXIT_SETUP_FAILED : EXIT_SETUP_FAILED + 1);
}
