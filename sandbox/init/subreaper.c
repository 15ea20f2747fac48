#include "subreaper.h"

#include "confine.h"
#include "wire.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { REPORTS = 3 };

struct ending ending_make(int status, const struct rusage *usage)
{
	return (struct ending){
		.status = status,
		.user_us = (uint64_t)usage->ru_utime.tv_sec * 1000000 + (uint64_t)usage->ru_utime.tv_usec,
		.system_us = (uint64_t)usage->ru_stime.tv_sec * 1000000 + (uint64_t)usage->ru_stime.tv_usec,
		.max_rss = (uint64_t)usage->ru_maxrss * 1024,
	};
}

/* It holds nothing of init's: a stream kept open here would never end. Closing the outcome's end leaves it to the leader. */
static int let_go(int reports)
{
	if (reports != REPORTS && dup3(reports, REPORTS, O_CLOEXEC) < 0)
		return -1;
	if (syscall(SYS_close_range, REPORTS + 1, UINT_MAX, 0) < 0)
		return -1;
	return confine_capabilities(0);
}

static void reap_all(struct note *note, pid_t leader, uint32_t index)
{
	int status;
	struct rusage usage;
	for (;;) {
		pid_t pid = wait4(-1, &status, 0, &usage);
		if (pid < 0 && errno != EINTR)
			return;
		/* A child that asks to be traced is traced by this process, and its stops are told here; they are no endings. A later
		 * orphan may have been given the leader's id. */
		if (pid != leader || note->has_ended || WIFSTOPPED(status))
			continue;
		note->ending = ending_make(status, &usage);
		note->has_ended = true;
		while (write(REPORTS, &index, sizeof index) < 0 && errno == EINTR)
			;
	}
}

_Noreturn void subreaper_run(const struct child_plan *plan, int reports, uint32_t index)
{
	pid_t leader = prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0 ? -1 : fork();
	if (leader == 0)
		child_run(plan);
	if (leader < 0) {
		note_fail(plan->note, INIT_PHASE_FORK, errno);
		_exit(127);
	}
	if (let_go(reports) < 0)
		_exit(127);
	reap_all(plan->note, leader, index);
	_exit(0);
}
