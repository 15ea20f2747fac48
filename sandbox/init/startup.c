#include "startup.h"

#include "confine.h"
#include "denial.h"
#include "tree.h"
#include "sandbox/landlock.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <linux/bpf_common.h>
#include <linux/capability.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* KILL and the ids for what runs as the user; CHOWN gives a terminal to its user where devpts does not. */
static const uint64_t kept_capabilities = 1u << CAP_SETUID | 1u << CAP_SETGID | 1u << CAP_KILL | 1u << CAP_CHOWN;

/* The programs stay in memory: each child loads the user's. */
static struct sock_filter user_instructions[BPF_MAXINSNS];
static struct sock_filter own_instructions[BPF_MAXINSNS];
static struct sock_fprog own_filter;

static bool read_number(const char *text, uint64_t most, uint64_t *number)
{
	if (text[0] < '0' || text[0] > '9')
		return false;
	char *end;
	errno = 0;
	unsigned long long value = strtoull(text, &end, 10);
	*number = value;
	return errno == 0 && *end == '\0' && value <= most;
}

bool startup_read_arguments(int argc, char **argv, struct settings *settings)
{
	uint64_t uid, gid;
	/* The highest id, (uid_t)-1, means "unchanged" to setresuid(2). */
	if (argc != INIT_ARGUMENTS || !read_number(argv[INIT_ARG_UID], UINT32_MAX - 1, &uid) ||
	    !read_number(argv[INIT_ARG_GID], UINT32_MAX - 1, &gid) ||
	    !read_number(argv[INIT_ARG_OPEN_FILES], UINT32_MAX, &settings->open_files) ||
	    !read_number(argv[INIT_ARG_FILE_SIZE], UINT64_MAX, &settings->file_size))
		return false;
	settings->uid = (uid_t)uid;
	settings->gid = (gid_t)gid;
	return settings->open_files == 0 || settings->open_files >= 4; /* what execve itself needs */
}

static int be_undumpable(struct settings *settings)
{
	(void)settings;
	return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

static int close_others(struct settings *settings)
{
	(void)settings;
	for (int fd = 0; fd <= INIT_PROC_FD; fd++)
		if (fcntl(fd, F_SETFD, fd < INIT_SOCKET_FD ? 0 : FD_CLOEXEC) < 0)
			return -1;
	return (int)syscall(SYS_close_range, INIT_PROC_FD + 1, UINT_MAX, 0);
}

static int read_filter(int fd, struct sock_filter *instructions, struct sock_fprog *filter)
{
	struct stat status;
	if (fstat(fd, &status) < 0)
		return -1;
	size_t size = (size_t)status.st_size;
	if (size > BPF_MAXINSNS * sizeof *instructions || size % sizeof *instructions != 0) {
		errno = EINVAL;
		return -1;
	}
	ssize_t got = pread(fd, instructions, size, 0);
	if (got < 0 || (size_t)got != size) {
		errno = got < 0 ? errno : EIO;
		return -1;
	}
	*filter = (struct sock_fprog){.len = (unsigned short)(size / sizeof *instructions), .filter = instructions};
	return close(fd);
}

/* Loading a program takes some 0.15 ms, most of a start's overhead. Where both are the same, children have inherited it. */
static int read_filters(struct settings *settings)
{
	if (read_filter(INIT_USER_FILTER_FD, user_instructions, &settings->user_filter) < 0 ||
	    read_filter(INIT_OWN_FILTER_FD, own_instructions, &own_filter) < 0)
		return -1;
	if (settings->user_filter.len == own_filter.len &&
	    memcmp(user_instructions, own_instructions, own_filter.len * sizeof *own_instructions) == 0)
		settings->user_filter.len = 0;
	return 0;
}

/* What every process will inherit: no signal is ignored or blocked, a plain umask, and a directory that is there. */
static int reset_surroundings(struct settings *settings)
{
	for (int signo = 1; signo < NSIG; signo++)
		if (signal(signo, SIG_DFL) == SIG_ERR && errno != EINVAL)
			return -1;
	sigset_t none;
	sigemptyset(&none);
	if (sigprocmask(SIG_SETMASK, &none, NULL) < 0)
		return -1;

	char text[16] = "";
	int fd = open("/proc/self/oom_score_adj", O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
	settings->resets_oom = got > 0 && text[0] == '-';
	if (fd >= 0)
		close(fd);
	umask(022);
	return chdir("/");
}

/* Init holds the streams of all processes, and wants all descriptors that it may have; the rest is for its children. */
static int set_limits(struct settings *settings)
{
	(void)settings;
	static const struct {
		int resource;
		rlim_t soft, hard;
	} rows[] = {
		{RLIMIT_NOFILE, RLIM_INFINITY, RLIM_INFINITY},  {RLIMIT_CORE, 1, 1},   {RLIMIT_MEMLOCK, 64 * 1024, 64 * 1024},
		{RLIMIT_MSGQUEUE, 800 * 1024, 800 * 1024},      {RLIMIT_RTPRIO, 0, 0}, {RLIMIT_NICE, 0, 0},
		{RLIMIT_STACK, 8 * 1024 * 1024, RLIM_INFINITY},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (confine_limit(rows[i].resource, rows[i].soft, rows[i].hard) < 0)
			return -1;
	return 0;
}

/* In a user namespace of one id setgroups(2) is forbidden: then the groups stay those of who started the server. */
static int drop_groups(struct settings *settings)
{
	if (setgroups(0, NULL) == 0)
		return 0;
	return errno == EPERM && settings->uid == getuid() && settings->gid == getgid() ? 0 : -1;
}

/* Were the users' processes, who are 0 here, of init's id, they could signal it and would own what it owns. The capabilities
 * are kept over the change, which makes a process dumpable where fs.suid_dumpable says so. */
static int step_aside(struct settings *settings)
{
	if (settings->uid != 0 || !confine_has(CAP_SETUID))
		return 0;
	if (prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) < 0 || setresgid(INIT_ASIDE_ID, INIT_ASIDE_ID, INIT_ASIDE_ID) < 0 ||
	    setresuid(INIT_ASIDE_ID, INIT_ASIDE_ID, INIT_ASIDE_ID) < 0 || confine_capabilities(UINT64_MAX) < 0)
		return -1;
	return be_undumpable(settings);
}

static int reduce_capabilities(struct settings *settings)
{
	(void)settings;
	if (confine_has(CAP_SETPCAP) && confine_bounds() < 0)
		return -1;
	return confine_capabilities(kept_capabilities);
}

static int refuse_new_privileges(struct settings *settings)
{
	(void)settings;
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

/* A change of credentials clears PDEATHSIG, so this comes after the last. The keeper may have died before it: the
 * parent's id is 0 either way, but then nobody holds the other end of the socket, which is not yet passed on. */
static int die_with_parent(struct settings *settings)
{
	(void)settings;
	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0)
		return -1;
	struct pollfd control = {.fd = INIT_SOCKET_FD, .events = POLLIN};
	if (poll(&control, 1, 0) < 0)
		return -1;
	if (control.revents & (POLLHUP | POLLERR | POLLNVAL)) {
		errno = EOWNERDEAD;
		return -1;
	}
	return 0;
}

/* What children inherit. A kernel without it is seen by the keeper, whose policies may demand it. */
static int restrict_files(struct settings *settings)
{
	(void)settings;
	return landlock_put_on(INIT_PROC_FD) < 0 ? -1 : 0;
}

/* A kernel without user notification, or somebody above us who listens already: then refusals are not told. */
static int load_own_filter(struct settings *settings)
{
	int listener = own_filter.len > 0 ? denial_load(&own_filter) : -1;
	settings->listener = listener > 0 ? listener : 0;
	return listener > 0 ? 0 : confine_filter(&own_filter);
}

/* clang-format off */
static const struct {
	enum init_boot_step step;
	int (*take)(struct settings *settings);
} steps[] = {
	{INIT_BOOT_DESCRIPTORS, close_others},
	{INIT_BOOT_FILTERS, read_filters},
	{INIT_BOOT_SURROUNDINGS, reset_surroundings},
	{INIT_BOOT_SURROUNDINGS, set_limits},
	{INIT_BOOT_GROUPS, drop_groups},
	{INIT_BOOT_GROUPS, step_aside},
	{INIT_BOOT_CAPABILITIES, reduce_capabilities},
	{INIT_BOOT_NO_NEW_PRIVS, refuse_new_privileges},
	{INIT_BOOT_PARENT, die_with_parent},
	{INIT_BOOT_LANDLOCK, restrict_files},
	{INIT_BOOT_CONFINE, load_own_filter},
};
/* clang-format on */

enum init_boot_step startup_take(int argc, char **argv, struct settings *settings)
{
	if (be_undumpable(settings) < 0)
		return INIT_BOOT_UNDUMPABLE;
	if (!startup_read_arguments(argc, argv, settings)) {
		errno = EINVAL;
		return INIT_BOOT_ARGUMENTS;
	}
	settings->ptmx = "/dev/pts/ptmx";
	tree_look_in(INIT_PROC_FD);
	for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
		if (steps[i].take(settings) < 0)
			return steps[i].step;
	return 0;
}
