#include "spare.h"

#include "init.h"
#include "request.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { GO_PAYLOAD, GO_OUTCOME, GO_STDIO, GO_FDS = GO_STDIO + STDIO_FDS };

/* What START brings, beside its descriptors. */
struct go {
	uint32_t row; /* of the table of processes */
	uint32_t argc, envc;
	uint32_t has_terminal, is_shell;
	int32_t stdio[STDIO_FDS]; /* which of the descriptors; -1 for /dev/null */
};

union ancillary {
	struct cmsghdr header;
	char bytes[CMSG_SPACE(GO_FDS * sizeof(int))];
};

/* --- the child ------------------------------------------------------------------------------------------------ */

/* Close all from 3 on but KEPT, which are sorted here. A stream's end that were kept would never end. */
static int keep_only(int *kept, size_t count)
{
	unsigned low = STDERR_FILENO + 1;
	for (size_t i = 0; i < count; i++) {
		for (size_t k = i + 1; k < count; k++) {
			int other = kept[k];
			kept[k] = other < kept[i] ? kept[i] : other;
			kept[i] = other < kept[i] ? other : kept[i];
		}
		unsigned fd = (unsigned)kept[i];
		if (fd > low && syscall(SYS_close_range, low, fd - 1, 0) < 0)
			return -1;
		low = fd + 1;
	}
	return (int)syscall(SYS_close_range, low, UINT_MAX, 0);
}

/* Whether START came. */
static bool receive_go(int socket, int flags, struct go *go, int fds[GO_FDS], struct note *note)
{
	struct iovec data = {.iov_base = go, .iov_len = sizeof *go};
	union ancillary ancillary;
	struct msghdr packet = {
		.msg_iov = &data, .msg_iovlen = 1, .msg_control = &ancillary, .msg_controllen = sizeof ancillary};
	ssize_t got;
	do {
		got = recvmsg(socket, &packet, MSG_CMSG_CLOEXEC | flags);
	} while (got < 0 && errno == EINTR);
	if (got != (ssize_t)sizeof *go)
		return false;
	struct cmsghdr *part = CMSG_FIRSTHDR(&packet);
	if (!part || packet.msg_flags & MSG_CTRUNC)
		note_fail(note, INIT_PHASE_STREAMS,
		          EMFILE); /* the user's processes can lower the limits of one of their user */
	else
		memcpy(fds, CMSG_DATA(part), part->cmsg_len - CMSG_LEN(0));
	return true;
}

static _Noreturn void become(const struct init *init, const struct note *own, const struct go *go, const int *fds)
{
	struct note *note = &init->table.notes[go->row];
	note->leader = own->leader;
	note->cgroup = own->cgroup;
	struct payload payload = {0};
	int wrong = payload_map(&payload, fds[GO_PAYLOAD], go->argc, go->envc);
	if (wrong) {
		note_fail(note, INIT_PHASE_PAYLOAD, wrong);
		_exit(127);
	}
	struct stdio stdio = STDIO_NONE;
	for (int i = 0; i < STDIO_FDS; i++)
		if (go->stdio[i] >= 0)
			stdio.fds[i] = fds[go->stdio[i]];
	child_become(&(struct child_plan){
		.settings = &init->settings,
		.payload = &payload,
		.note = note,
		.stdio = &stdio,
		.has_terminal = go->has_terminal,
		.is_shell = go->is_shell,
		.outcome_fd = fds[GO_OUTCOME],
	});
}

static _Noreturn void wait_in_leaf(const struct init *init, int socket, const int *leaf_fds, size_t leaf_count)
{
	int kept[2 + INIT_LEAF_FDS] = {socket, tree_directory()}, fds[GO_FDS];
	struct note note = {0};
	struct go go;
	const struct child_plan plan = {
		.settings = &init->settings, .note = &note, .leaf_fds = leaf_fds, .leaf_count = leaf_count};
	memcpy(kept + 2, leaf_fds, leaf_count * sizeof *leaf_fds);
	if (keep_only(kept, 2 + leaf_count) < 0)
		note_fail(&note, INIT_PHASE_STREAMS, errno);
	else
		child_prepare(&plan);
	/* Who cannot be the process leaves, and START forks; unless START has come already. */
	if (receive_go(socket, note.phase ? MSG_DONTWAIT : 0, &go, fds, &note)) {
		if (!note.phase)
			become(init, &note, &go, fds);
		note_fail(&init->table.notes[go.row], note.phase, note.errnum);
	}
	_exit(127);
}

/* --- init ----------------------------------------------------------------------------------------------------- */

static struct spare *find(struct init *init, uint32_t number)
{
	for (size_t i = 0; i < SPARES; i++)
		if (init->spares[i].number == number)
			return &init->spares[i];
	return NULL;
}

static void forget(struct spare *spare)
{
	close(spare->socket);
	*spare = (struct spare){.number = 0};
}

int spare_prepare(struct init *init, const struct request *request)
{
	uint32_t number = request->message.process;
	struct spare *spare = find(init, 0);
	int ends[2];
	if (find(init, number))
		return EEXIST;
	if (!spare)
		return EAGAIN;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return 0;
	pid_t pid = fork();
	if (pid == 0)
		wait_in_leaf(init, ends[1], request->fds, request->fd_count);
	close(ends[1]);
	*spare = (struct spare){.number = number, .pid = pid, .socket = ends[0]};
	if (pid < 0)
		forget(spare);
	return 0;
}

static size_t fill(struct go *go, int fds[GO_FDS], const struct child_plan *plan)
{
	size_t count = GO_STDIO;
	fds[GO_OUTCOME] = plan->outcome_fd;
	go->has_terminal = plan->has_terminal;
	go->is_shell = plan->is_shell;
	go->argc = plan->payload->argc;
	go->envc = plan->payload->envc;
	for (int i = 0; i < STDIO_FDS; i++) {
		go->stdio[i] = plan->stdio->fds[i] < 0 ? -1 : (int32_t)count;
		if (plan->stdio->fds[i] >= 0)
			fds[count++] = plan->stdio->fds[i];
	}
	return count;
}

static bool hand_over(int socket, const struct go *go, const int *fds, size_t count)
{
	struct iovec data = {.iov_base = (void *)(uintptr_t)go, .iov_len = sizeof *go};
	union ancillary ancillary = {
		.header = {.cmsg_len = CMSG_LEN(count * sizeof *fds), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS}};
	struct msghdr packet = {.msg_iov = &data,
	                        .msg_iovlen = 1,
	                        .msg_control = &ancillary,
	                        .msg_controllen = CMSG_SPACE(count * sizeof *fds)};
	memcpy(CMSG_DATA(&ancillary.header), fds, count * sizeof *fds);
	return sendmsg(socket, &packet, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)sizeof *go;
}

bool spare_start(struct init *init, struct process *process, const struct child_plan *plan, int payload_fd)
{
	struct spare *spare = find(init, process->number);
	if (!spare)
		return false;
	struct go go = {.row = process_index(&init->table, process)};
	int fds[GO_FDS] = {[GO_PAYLOAD] = payload_fd};
	size_t count = fill(&go, fds, plan);
	bool is_handed_over = hand_over(spare->socket, &go, fds, count);
	if (is_handed_over)
		process->child = spare->pid;
	process->is_spare = is_handed_over;
	forget(spare);
	return is_handed_over;
}

void spares_end_before(struct init *init, uint32_t number)
{
	for (size_t i = 0; i < SPARES; i++)
		if (init->spares[i].number != 0 && init->spares[i].number < number)
			forget(&init->spares[i]);
}

static struct spare *find_child(struct init *init, pid_t pid)
{
	for (size_t i = 0; i < SPARES; i++)
		if (init->spares[i].number != 0 && init->spares[i].pid == pid)
			return &init->spares[i];
	return NULL;
}

void spare_reaped(struct init *init, pid_t pid)
{
	struct spare *spare = find_child(init, pid);
	if (spare)
		forget(spare);
}

void spare_stopped(struct init *init, pid_t pid)
{
	if (find_child(init, pid))
		(void)kill(pid, SIGCONT);
}
