#include "start.h"

#include "spare.h"
#include "subreaper.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/epoll.h>
#include <unistd.h>

/* Pages of pipes are counted per user (/proc/sys/fs/pipe-user-pages-soft, 64 MiB), in user mode together with those of
 * all his other programs: only so many processes get a wide one. */
enum { WIDE_PIPES = 16 };

static int check(const struct request *request)
{
	const struct init_message *message = &request->message;
	bool has_leaf = request->fd_count > 1, has_subreaper = message->flags & INIT_SUBREAPER;
	if (has_leaf == has_subreaper)
		return EINVAL;
	if (message->flags & INIT_SHELL && message->flags & (INIT_TERMINAL | INIT_STDIN))
		return EINVAL;
	if (message->flags & INIT_TERMINAL)
		return message->flags & INIT_STDIN || message->cols == 0 || message->rows == 0 ? EINVAL : 0;
	return 0;
}

static int open_streams(struct init *init, struct process *process, const struct init_message *message,
                        struct stdio *stdio)
{
	if (message->flags & INIT_TERMINAL)
		return streams_open_terminal(&process->streams, stdio, &init->settings, message->cols, message->rows);
	process->is_wide = init->table.wide < WIDE_PIPES;
	init->table.wide += process->is_wide;
	if (message->flags & INIT_SHELL)
		return streams_open_shell(&process->streams, stdio, &init->settings, process->is_wide);
	return streams_open_pipes(&process->streams, stdio, &init->settings, message->flags & INIT_STDIN, process->is_wide);
}

/* Told once (EPOLLET): another child may hold a copy of our end, frozen, and would keep a closed one telling for ever. */
static int watch_outcome(struct init *init, struct process *process, int *theirs)
{
	int ends[2];
	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0)
		return -1;
	process->outcome_fd = ends[0];
	*theirs = ends[1];
	struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data.u64 = process_index(&init->table, process)};
	return epoll_ctl(init->poll, EPOLL_CTL_ADD, ends[0], &event);
}

static void fork_child(struct init *init, struct process *process, const struct child_plan *plan)
{
	pid_t pid = fork();
	if (pid == 0 && process->flags & INIT_SUBREAPER)
		subreaper_run(plan, init->reports[1], process_index(&init->table, process));
	if (pid == 0)
		child_run(plan);
	if (pid < 0)
		process_fail(process, INIT_PHASE_FORK, errno);
	else
		process->child = pid;
}

static void launch(struct init *init, struct process *process, const struct payload *payload,
                   const struct request *request)
{
	struct stdio stdio = STDIO_NONE;
	int outcome_fd = -1;
	if (open_streams(init, process, &request->message, &stdio) < 0 || watch_outcome(init, process, &outcome_fd) < 0) {
		process_fail(process, INIT_PHASE_STREAMS, errno);
	} else {
		const struct child_plan plan = {
			.settings = &init->settings,
			.payload = payload,
			.note = process->note,
			.stdio = &stdio,
			.has_terminal = request->message.flags & INIT_TERMINAL,
			.is_shell = request->message.flags & INIT_SHELL,
			.outcome_fd = outcome_fd,
			.leaf_fds = request->fds + 1,
			.leaf_count = request->fd_count - 1,
		};
		if (!spare_start(init, process, &plan, request->fds[0]))
			fork_child(init, process, &plan);
	}
	stdio_close(&stdio);
	if (outcome_fd >= 0)
		close(outcome_fd);
}

int start_process(struct init *init, const struct request *request)
{
	const struct init_message *message = &request->message;
	int wrong = check(request);
	if (wrong)
		return wrong;
	struct payload payload = {0};
	wrong = payload_map(&payload, request->fds[0], message->argc, message->envc);
	if (wrong && wrong != ENOMEM)
		return wrong;
	spares_end_before(init, message->process);
	struct process *process = process_add(&init->table, message->process, message->flags);
	if (process && wrong)
		process_fail(process, INIT_PHASE_PAYLOAD, wrong);
	else if (process)
		launch(init, process, &payload, request);
	payload_unmap(&payload);
	return process ? 0 : EAGAIN;
}
