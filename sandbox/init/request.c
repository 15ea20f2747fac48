#include "request.h"

#include "spare.h"
#include "start.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* An empty message reads like the end does. */
static bool is_end(int control)
{
	struct pollfd state = {.fd = control, .events = POLLIN};
	return poll(&state, 1, 0) > 0 && state.revents & POLLHUP;
}

static void take_descriptors(struct msghdr *packet, struct request *request)
{
	for (struct cmsghdr *part = CMSG_FIRSTHDR(packet); part; part = CMSG_NXTHDR(packet, part)) {
		if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS)
			continue;
		size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof *request->fds;
		for (size_t i = 0; i < count; i++) {
			int fd;
			memcpy(&fd, CMSG_DATA(part) + i * sizeof fd, sizeof fd);
			if (request->fd_count < INIT_MAX_FDS) {
				request->fds[request->fd_count++] = fd;
			} else { /* the buffer's alignment leaves room for one more */
				close(fd);
				request->wrong = EBADF;
			}
		}
	}
}

enum request_result request_receive(int control, struct request *request)
{
	*request = (struct request){0};
	struct iovec data = {.iov_base = &request->message, .iov_len = sizeof request->message};
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(INIT_MAX_FDS * sizeof(int))];
	} ancillary;
	struct msghdr packet = {
		.msg_iov = &data, .msg_iovlen = 1, .msg_control = &ancillary, .msg_controllen = sizeof ancillary};
	ssize_t got = recvmsg(control, &packet, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	if (got < 0)
		return errno == EAGAIN || errno == EINTR ? REQUEST_NONE : REQUEST_END;
	take_descriptors(&packet, request);
	if (got == 0 && request->fd_count == 0 && is_end(control))
		return REQUEST_END;
	if ((size_t)got != sizeof request->message || packet.msg_flags & MSG_TRUNC)
		request->wrong = EMSGSIZE;
	else if (packet.msg_flags & MSG_CTRUNC)
		request->wrong = request->fd_count == INIT_MAX_FDS ? EBADF : EMFILE;
	return REQUEST_RECEIVED;
}

void request_finish(struct request *request)
{
	while (request->fd_count > 0)
		close(request->fds[--request->fd_count]);
}

/* The requests. Each returns 0, or the errno with which it is refused; PROCESS is the known one that is meant. */

static int synchronise(struct init *init, const struct request *request, struct process *process)
{
	(void)process;
	init->epoch = request->message.epoch;
	init->owes_synced = init->owes_sync_done = true;
	init->unanswered = init->table.queue_count;
	for (size_t i = 0; i < init->table.count; i++) {
		struct process *known = &init->table.rows[i];
		if (known->number == 0 || !known->is_answered)
			continue;
		known->owed &= OWES_DENIED;
		known->owed |= OWES_ANSWER | (known->state == PROCESS_EXITED ? (uint32_t)OWES_EXITED : 0) |
		               (known->is_empty ? (uint32_t)OWES_EMPTY : 0);
	}
	return 0;
}

static int start(struct init *init, const struct request *request, struct process *process)
{
	(void)process;
	return start_process(init, request);
}

static int prepare(struct init *init, const struct request *request, struct process *process)
{
	(void)process;
	return spare_prepare(init, request);
}

static int send_signal(struct init *init, const struct request *request, struct process *process)
{
	(void)init;
	int signo = request->message.value;
	if (signo < 1 || signo > SIGRTMAX)
		return EINVAL;
	if (request->message.flags & INIT_SCOPE_BELOW)
		return process_signal_below(process, signo);
	return request->message.flags & INIT_SCOPE_TREE ? process_signal_tree(process, signo)
	                                                : process_signal(process, signo);
}

static int kill_tree(struct init *init, const struct request *request, struct process *process)
{
	(void)init;
	(void)request;
	return process_kill_tree(process);
}

static int close_stdin(struct init *init, const struct request *request, struct process *process)
{
	(void)init;
	(void)request;
	streams_close_stdin(&process->streams);
	return 0;
}

static int forget(struct init *init, const struct request *request, struct process *process)
{
	(void)request;
	return process_handle(&init->table, process, PROCESS_FORGET);
}

enum whom { NOBODY, NEW, KNOWN };

static const struct row {
	int (*carry_out)(struct init *init, const struct request *request, struct process *process);
	enum whom whom;
	uint32_t flags; /* those allowed */
	size_t least_fds, most_fds;
} rows[] = {
	[INIT_SYNC] = {synchronise, NOBODY, 0, 0, 0},
	[INIT_START] = {start, NEW, INIT_TERMINAL | INIT_STDIN | INIT_SUBREAPER | INIT_SHELL, 1, INIT_MAX_FDS},
	[INIT_SIGNAL] = {send_signal, KNOWN, INIT_SCOPE_TREE | INIT_SCOPE_BELOW, 0, 0},
	[INIT_KILL_TREE] = {kill_tree, KNOWN, 0, 0, 0},
	[INIT_CLOSE_STDIN] = {close_stdin, KNOWN, 0, 0, 0},
	[INIT_FORGET] = {forget, KNOWN, 0, 0, 0},
	[INIT_PREPARE] = {prepare, NEW, 0, 1, INIT_LEAF_FDS},
};

static const struct row *find_row(uint32_t type)
{
	return type < sizeof rows / sizeof *rows && rows[type].carry_out ? &rows[type] : NULL;
}

static int check_whom(enum whom whom, uint32_t number, const struct process *process)
{
	if ((whom == NOBODY) != (number == 0))
		return EINVAL;
	if (whom == NEW && process)
		return EEXIST;
	return whom == KNOWN && !process ? ESRCH : 0;
}

static int carry_out(struct init *init, const struct request *request)
{
	const struct init_message *message = &request->message;
	if (request->wrong)
		return request->wrong;
	if (message->epoch < init->epoch)
		return 0;
	if (message->epoch > init->epoch && message->type != INIT_SYNC)
		return EPROTO;
	const struct row *row = find_row(message->type);
	if (!row)
		return ENOSYS;
	if (message->flags & ~row->flags)
		return EINVAL;
	if (request->fd_count < row->least_fds || request->fd_count > row->most_fds)
		return EBADF;
	struct process *process = process_find(&init->table, message->process);
	int wrong = check_whom(row->whom, message->process, process);
	return wrong ? wrong : row->carry_out(init, request, process);
}

void request_handle(struct init *init, const struct request *request)
{
	int wrong = carry_out(init, request);
	if (wrong == 0)
		return;
	init->refusal = (struct init_message){
		.type = INIT_REFUSED,
		.flags = (uint32_t)wrong,
		.process = request->message.process,
		.value = (int32_t)request->message.type,
	};
}
