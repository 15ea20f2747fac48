#include "child.h"

#include "confine.h"
#include "execute.h"
#include "tree.h"
#include "wire.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { OUTCOME = 3 };

static int write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	ssize_t wrote = write(fd, text, strlen(text));
	int errnum = errno;
	close(fd);
	errno = errnum;
	return wrote < 0 ? -1 : 0;
}

/* First of all: from here on the leaf's limits, its freezing and its killing hold. The descriptors were opened by the
 * keeper, whose right to move a process the kernel checks. */
static int join_leaf(const struct child_plan *plan)
{
	for (size_t i = 0; i < plan->leaf_count; i++)
		if (write(plan->leaf_fds[i], "0", 1) < 0)
			return -1;
	return 0;
}

/* Were the leaf init's own cgroup, by a mistake of the other side, killing the tree would kill everything. */
static int note_itself(const struct child_plan *plan)
{
	plan->note->leader = getpid();
	uint64_t cgroup = plan->leaf_count > 0 ? tree_cgroup_key(plan->note->leader) : 0;
	plan->note->cgroup = cgroup == plan->settings->own_cgroup ? 0 : cgroup;
	return 0;
}

/* A shell's are moved out of each other's way first. It makes what it executes inherit 0-2 alone. */
static int take_shell_streams(const struct child_plan *plan)
{
	static const int places[STDIO_FDS] = {INIT_SHELL_COMMANDS, INIT_SHELL_STDOUT, INIT_SHELL_STDERR, INIT_SHELL_STATUS,
	                                      STDERR_FILENO};
	int ends[STDIO_FDS], outcome = fcntl(plan->outcome_fd, F_DUPFD_CLOEXEC, INIT_SHELL_STATUS + 1);
	if (outcome < 0)
		return -1;
	for (int i = 0; i < STDIO_FDS; i++)
		if ((ends[i] = fcntl(plan->stdio->fds[i], F_DUPFD_CLOEXEC, INIT_SHELL_STATUS + 1)) < 0)
			return -1;
	for (int i = 0; i < STDIO_FDS; i++)
		if (dup2(ends[i], places[i]) < 0)
			return -1;
	if (dup3(outcome, OUTCOME, O_CLOEXEC) < 0 || syscall(SYS_close_range, OUTCOME + 1, INIT_SHELL_STDOUT - 1, 0) < 0)
		return -1;
	return (int)syscall(SYS_close_range, INIT_SHELL_STATUS + 1, UINT_MAX, 0);
}

/* 0-2 are /dev/null here; the sources are above them. After this no end of another process's stream is held. */
static int take_streams(const struct child_plan *plan)
{
	if (plan->is_shell)
		return take_shell_streams(plan);
	for (int i = 0; i < 3; i++)
		if (plan->stdio->fds[i] >= 0 && dup2(plan->stdio->fds[i], i) < 0)
			return -1;
	if (plan->outcome_fd != OUTCOME && dup3(plan->outcome_fd, OUTCOME, O_CLOEXEC) < 0)
		return -1;
	return (int)syscall(SYS_close_range, OUTCOME + 1, UINT_MAX, 0);
}

static int lead_session(const struct child_plan *plan)
{
	if (setsid() < 0)
		return -1;
	return plan->has_terminal ? ioctl(STDIN_FILENO, TIOCSCTTY, 0) : 0;
}

static int unblock_signals(const struct child_plan *plan)
{
	(void)plan;
	sigset_t none;
	sigemptyset(&none);
	return sigprocmask(SIG_SETMASK, &none, NULL);
}

/* What /proc has of a process that is not dumpable belongs to 0 inside, who is not init where it is the users'. */
static int become_victim(const struct child_plan *plan)
{
	if (!plan->settings->resets_oom)
		return 0;
	int before = setfsuid(0), result = write_file("/proc/self/oom_score_adj", "0");
	setfsuid((uid_t)before);
	return result;
}

/* The others were set when init booted, and are inherited. */
static int set_limits(const struct child_plan *plan)
{
	const struct settings *settings = plan->settings;
	if (settings->open_files && confine_limit(RLIMIT_NOFILE, settings->open_files, settings->open_files) < 0)
		return -1;
	return settings->file_size ? confine_limit(RLIMIT_FSIZE, settings->file_size, settings->file_size) : 0;
}

/* Supplementary groups, the bounding set and no_new_privs were settled when init booted. */
static int become_user(const struct child_plan *plan)
{
	const struct settings *settings = plan->settings;
	if (setresgid(settings->gid, settings->gid, settings->gid) < 0 ||
	    setresuid(settings->uid, settings->uid, settings->uid) < 0)
		return -1;
	return confine_capabilities(0);
}

/* As the user, who need not be able to reach what uid 0 could; nothing is open through which /proc could lead out. */
static int enter_directory(const struct child_plan *plan)
{
	return chdir(plan->payload->cwd);
}

static int load_filter(const struct child_plan *plan)
{
	return confine_filter(&plan->settings->user_filter);
}

static int execute_it(const struct child_plan *plan)
{
	char **argv, **envp;
	if (payload_vectors(plan->payload, &argv, &envp) < 0)
		return -1;
	return execute(argv, envp);
}

/* clang-format off */
struct step {
	enum init_phase phase;
	int (*take)(const struct child_plan *plan);
};

static const struct step first_steps[] = {
	{INIT_PHASE_CGROUP, join_leaf},
	{INIT_PHASE_CGROUP, note_itself},
	{INIT_PHASE_CONFINE, unblock_signals},
	{INIT_PHASE_CONFINE, become_victim},
};

static const struct step last_steps[] = {
	{INIT_PHASE_STREAMS, take_streams},
	{INIT_PHASE_TERMINAL, lead_session},
	{INIT_PHASE_CONFINE, set_limits},
	{INIT_PHASE_CONFINE, become_user},
	{INIT_PHASE_CWD, enter_directory},
	{INIT_PHASE_CONFINE, load_filter},
	{INIT_PHASE_EXEC, execute_it},
};
/* clang-format on */

static bool take_all(const struct step *steps, size_t count, const struct child_plan *plan)
{
	for (size_t i = 0; i < count; i++) {
		if (steps[i].take(plan) == 0)
			continue;
		note_fail(plan->note, steps[i].phase, errno);
		return false;
	}
	return true;
}

bool child_prepare(const struct child_plan *plan)
{
	return take_all(first_steps, sizeof first_steps / sizeof *first_steps, plan);
}

_Noreturn void child_become(const struct child_plan *plan)
{
	take_all(last_steps, sizeof last_steps / sizeof *last_steps, plan);
	_exit(127);
}

_Noreturn void child_run(const struct child_plan *plan)
{
	if (child_prepare(plan))
		child_become(plan);
	_exit(127);
}
