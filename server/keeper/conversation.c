#include "conversation.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { REQUESTS_PER_TURN = 32, REQUESTS_LEFT = 1024 /* more than a socket holds */ };

struct queued_reply {
	struct queued_reply *next;
	size_t size, count;
	int fds[CONVERSATION_FDS];
	unsigned char bytes[];
};

static void close_all(const int *fds, size_t count)
{
	for (size_t i = 0; i < count; i++)
		close(fds[i]);
}

/* Whether it is done with, sent or lost; else it has to wait. */
static bool send_now(int socket, const void *bytes, size_t size, const int *fds, size_t count)
{
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(sizeof(int) * CONVERSATION_FDS)];
	} control = {0};
	struct iovec part = {.iov_base = (void *)(uintptr_t)bytes, .iov_len = size};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
	if (count > 0) {
		message.msg_control = control.space;
		message.msg_controllen = CMSG_SPACE(sizeof(int) * count);
		control.header = (struct cmsghdr){
			.cmsg_len = CMSG_LEN(sizeof(int) * count), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
		memcpy(CMSG_DATA(&control.header), fds, sizeof(int) * count);
	}
	if (sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0)
		return true;
	return errno == EPIPE || errno == ECONNRESET || errno == ENOTCONN; /* `ended` follows */
}

static void enqueue(struct conversation *conversation, const void *bytes, size_t size, const int *fds, size_t count)
{
	struct queued_reply *reply = calloc(1, sizeof *reply + size);
	if (!reply)
		abort();
	reply->size = size;
	reply->count = count;
	memcpy(reply->bytes, bytes, size);
	if (count > 0)
		memcpy(reply->fds, fds, sizeof(int) * count);
	*(conversation->last ? &conversation->last->next : &conversation->first) = reply;
	conversation->last = reply;
	watch_change(conversation->epoll, conversation->socket, EPOLLOUT, &conversation->watch);
}

void conversation_send(struct conversation *conversation, const void *bytes, size_t size, const int *fds, size_t count)
{
	assert(size <= sizeof(struct keeper_created) && count <= CONVERSATION_FDS);
	if (conversation->socket >= 0 && (conversation->first || !send_now(conversation->socket, bytes, size, fds, count)))
		enqueue(conversation, bytes, size, fds, count);
	else
		close_all(fds, count);
}

static void drop_first(struct conversation *conversation)
{
	struct queued_reply *reply = conversation->first;
	conversation->first = reply->next;
	if (!conversation->first)
		conversation->last = NULL;
	close_all(reply->fds, reply->count);
	free(reply);
}

static void flush(struct conversation *conversation)
{
	while (conversation->first) {
		struct queued_reply *reply = conversation->first;
		if (!send_now(conversation->socket, reply->bytes, reply->size, reply->fds, reply->count))
			return;
		drop_first(conversation);
	}
	watch_change(conversation->epoll, conversation->socket, EPOLLIN | EPOLLRDHUP, &conversation->watch);
}

/* A message of 0 bytes and the end of the conversation look alike; only the end is also a hang-up. */
static bool is_hung_up(int socket)
{
	struct pollfd state = {.fd = socket, .events = POLLRDHUP};
	return poll(&state, 1, 0) > 0;
}

/* False when there is none, or the conversation has ended. Without room for a control message the kernel drops the
 * descriptors that a gateway sends along. */
static bool read_request(struct conversation *conversation)
{
	unsigned char bytes[2 * sizeof(struct keeper_request)];
	ssize_t size = recv(conversation->socket, bytes, sizeof bytes, MSG_DONTWAIT);
	if (size < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (size < 0 || (size == 0 && is_hung_up(conversation->socket))) {
		conversation->events->ended(conversation->owner);
		return false;
	}
	conversation->events->message(conversation->owner, bytes, (size_t)size);
	return true;
}

static void socket_ready(void *subject, uint32_t events)
{
	(void)events;
	struct conversation *conversation = subject;
	if (conversation->first)
		flush(conversation);
	for (unsigned i = 0; i < REQUESTS_PER_TURN && !conversation->first && read_request(conversation); i++)
		;
}

void conversation_drain(struct conversation *conversation)
{
	while (conversation->first)
		drop_first(conversation);
	for (unsigned i = 0; i < REQUESTS_LEFT && conversation->socket >= 0 && read_request(conversation); i++)
		;
}

void conversation_init(struct conversation *conversation, int epoll, const struct conversation_events *events,
                       void *owner)
{
	*conversation = (struct conversation){.events = events, .owner = owner, .epoll = epoll, .socket = -1};
	conversation->watch = (struct watch){.ready = socket_ready, .subject = conversation};
}

int conversation_open(struct conversation *conversation, int socket, struct error *err)
{
	assert(conversation->socket < 0);
	if (watch_add(conversation->epoll, socket, EPOLLIN | EPOLLRDHUP, &conversation->watch, err) < 0)
		return -1;
	conversation->socket = socket;
	return 0;
}

void conversation_close(struct conversation *conversation)
{
	if (conversation->socket < 0)
		return;
	while (conversation->first)
		drop_first(conversation);
	watch_remove(conversation->epoll, conversation->socket);
	close(conversation->socket);
	conversation->socket = -1;
}
