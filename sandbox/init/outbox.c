#include "outbox.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

static enum outbox_result result_of(int errnum)
{
	static const struct {
		int errnum;
		enum outbox_result result;
	} rows[] = {
		{EAGAIN, OUTBOX_FULL},  {ETOOMANYREFS, OUTBOX_LATER}, {ENOBUFS, OUTBOX_LATER},
		{ENOMEM, OUTBOX_LATER}, {EINTR, OUTBOX_LATER},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (rows[i].errnum == errnum)
			return rows[i].result;
	return OUTBOX_GONE;
}

enum outbox_result outbox_send(int control, const struct init_message *message, const int *fds, size_t count)
{
	struct init_message copy = *message;
	struct iovec data = {.iov_base = &copy, .iov_len = sizeof copy};
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(STREAMS_MOST * sizeof(int))];
	} ancillary = {0};
	struct msghdr packet = {.msg_iov = &data, .msg_iovlen = 1};
	if (count > 0) {
		packet.msg_control = &ancillary;
		packet.msg_controllen = CMSG_SPACE(count * sizeof *fds);
		ancillary.header.cmsg_level = SOL_SOCKET;
		ancillary.header.cmsg_type = SCM_RIGHTS;
		ancillary.header.cmsg_len = CMSG_LEN(count * sizeof *fds);
		memcpy(CMSG_DATA(&ancillary.header), fds, count * sizeof *fds);
	}
	return sendmsg(control, &packet, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 ? result_of(errno) : OUTBOX_SENT;
}

static enum outbox_result send_refusal(struct init *init)
{
	if (init->refusal.type == 0)
		return OUTBOX_SENT;
	init->refusal.epoch = init->epoch;
	enum outbox_result result = outbox_send(init->control, &init->refusal, NULL, 0);
	if (result == OUTBOX_SENT)
		init->refusal.type = 0;
	return result;
}

static enum outbox_result send_synced(struct init *init)
{
	if (!init->owes_synced)
		return OUTBOX_SENT;
	struct init_message message = {.type = INIT_SYNCED, .epoch = init->epoch};
	enum outbox_result result = outbox_send(init->control, &message, NULL, 0);
	init->owes_synced = result != OUTBOX_SENT;
	return result;
}

static enum outbox_result send_answer(struct init *init, struct process *process)
{
	struct init_message message = {.epoch = init->epoch, .process = process->number};
	int fds[STREAMS_MOST];
	size_t count = 0;
	if (process->state == PROCESS_FAILED) {
		message.type = INIT_START_FAILED;
		message.value = process->note->errnum;
		message.phase = process->note->phase;
	} else {
		message.type = INIT_STARTED;
		message.flags = process->flags & (INIT_TERMINAL | INIT_SUBREAPER | INIT_SHELL);
		message.flags |= process->streams.in >= 0 && !(process->flags & INIT_SHELL) ? INIT_STDIN : 0;
		count = streams_list(&process->streams, fds);
	}
	enum outbox_result result = outbox_send(init->control, &message, fds, count);
	if (result != OUTBOX_SENT)
		return result;
	init->unanswered -= !process->is_answered && init->unanswered > 0;
	process_set_answered(&init->table, process);
	return result;
}

static enum outbox_result send_exited(struct init *init, struct process *process)
{
	const struct ending *ending = &process->note->ending;
	struct init_message message = {
		.type = INIT_EXITED,
		.flags = process->flags & INIT_LOST,
		.epoch = init->epoch,
		.process = process->number,
		.value = ending->status,
		.user_us = ending->user_us,
		.system_us = ending->system_us,
		.max_rss = ending->max_rss,
	};
	enum outbox_result result = outbox_send(init->control, &message, NULL, 0);
	if (result == OUTBOX_SENT)
		process->owed &= ~(uint32_t)OWES_EXITED;
	return result;
}

static enum outbox_result send_denials(struct init *init, struct denials *denials, uint32_t number)
{
	struct init_message message = {
		.type = INIT_DENIED,
		.epoch = init->epoch,
		.process = number,
		.value = denials->call,
		.phase = (uint32_t)denials->thread,
		.user_us = denials->count,
	};
	enum outbox_result result = outbox_send(init->control, &message, NULL, 0);
	if (result == OUTBOX_SENT)
		denials->told = denials->count;
	return result;
}

static enum outbox_result send_denied(struct init *init, struct process *process)
{
	enum outbox_result result = send_denials(init, &process->denials, process->number);
	if (result == OUTBOX_SENT)
		process->owed &= ~(uint32_t)OWES_DENIED;
	return result;
}

static enum outbox_result send_strays(struct init *init)
{
	if (!init->owes_stray)
		return OUTBOX_SENT;
	enum outbox_result result = send_denials(init, &init->strays, 0);
	init->owes_stray = result != OUTBOX_SENT;
	return result;
}

static enum outbox_result send_plain(struct init *init, struct process *process, uint32_t type, uint32_t owed)
{
	struct init_message message = {.type = type, .epoch = init->epoch, .process = process->number};
	enum outbox_result result = outbox_send(init->control, &message, NULL, 0);
	if (result == OUTBOX_SENT)
		process->owed &= ~owed;
	return result;
}

static enum outbox_result send_killed(struct init *init, struct process *process)
{
	return send_plain(init, process, INIT_KILLED, OWES_KILLED);
}

static enum outbox_result send_empty(struct init *init, struct process *process)
{
	return send_plain(init, process, INIT_EMPTY, OWES_EMPTY);
}

static enum outbox_result send_answers(struct init *init)
{
	struct process *process;
	enum outbox_result result = OUTBOX_SENT;
	while (result == OUTBOX_SENT && (process = process_next_unanswered(&init->table)) && process->owed & OWES_ANSWER)
		result = send_answer(init, process);
	return result;
}

static enum outbox_result send_rest(struct init *init, struct process *process)
{
	static const struct {
		uint32_t owed;
		enum outbox_result (*send)(struct init *init, struct process *process);
	} rows[] = {{OWES_ANSWER, send_answer},
	            {OWES_DENIED, send_denied},
	            {OWES_EXITED, send_exited},
	            {OWES_KILLED, send_killed},
	            {OWES_EMPTY, send_empty}};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		if (!process->is_answered || !(process->owed & rows[i].owed))
			continue;
		enum outbox_result result = rows[i].send(init, process);
		if (result != OUTBOX_SENT)
			return result;
	}
	return OUTBOX_SENT;
}

static enum outbox_result send_sync_done(struct init *init)
{
	if (!init->owes_sync_done || init->unanswered > 0)
		return OUTBOX_SENT;
	struct init_message message = {.type = INIT_SYNC_DONE, .epoch = init->epoch};
	enum outbox_result result = outbox_send(init->control, &message, NULL, 0);
	init->owes_sync_done = result != OUTBOX_SENT;
	return result;
}

enum outbox_result outbox_flush(struct init *init)
{
	enum outbox_result result = send_refusal(init);
	if (result == OUTBOX_SENT)
		result = send_synced(init);
	if (result == OUTBOX_SENT)
		result = send_answers(init);
	for (size_t i = 0; result == OUTBOX_SENT && i < init->table.count; i++)
		result = send_rest(init, &init->table.rows[i]);
	if (result == OUTBOX_SENT)
		result = send_strays(init);
	return result == OUTBOX_SENT ? send_sync_done(init) : result;
}
