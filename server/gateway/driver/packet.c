#include "packet.h"

#include <assert.h>
#include <errno.h>
#include <stdalign.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { READS_PER_TURN = 64 };

struct queued {
	struct queued *next;
	size_t size, count;
	int fds[PACKET_FDS];
	unsigned char bytes[];
};

struct packet_socket {
	struct ev_loop *loop;
	const struct packet_events *events;
	void *owner;
	ev_io readable, writable;
	struct queued *first, *last;
	size_t queued;
	bool *destroyed; /* set while a callback runs: becomes true when it destroys the socket */
	bool ended;
};

union control {
	struct cmsghdr header;
	char space[CMSG_SPACE(sizeof(int) * PACKET_FDS)];
};

static void close_all(const int *fds, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (fds[i] >= 0)
			close(fds[i]);
}

/* 1: sent; 0: it has to wait; -1: the other end is gone. */
static int send_now(int fd, const void *bytes, size_t size, const int *fds, size_t count)
{
	union control control = {0};
	struct iovec part = {.iov_base = (void *)(uintptr_t)bytes, .iov_len = size};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
	if (count > 0) {
		message.msg_control = control.space;
		message.msg_controllen = CMSG_SPACE(sizeof(int) * count);
		control.header = (struct cmsghdr){
			.cmsg_len = CMSG_LEN(sizeof(int) * count), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
		memcpy(CMSG_DATA(&control.header), fds, sizeof(int) * count);
	}
	if (sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0)
		return 1;
	return errno == EPIPE || errno == ECONNRESET || errno == ENOTCONN ? -1 : 0;
}

static bool enqueue(struct packet_socket *socket, const void *bytes, size_t size, const int *fds, size_t count)
{
	if (socket->queued == PACKET_QUEUE)
		return false;
	struct queued *item = calloc(1, sizeof *item + size);
	if (!item)
		abort();
	item->size = size;
	item->count = count;
	memcpy(item->bytes, bytes, size);
	if (count > 0)
		memcpy(item->fds, fds, sizeof(int) * count);
	*(socket->last ? &socket->last->next : &socket->first) = item;
	socket->last = item;
	socket->queued++;
	ev_io_start(socket->loop, &socket->writable);
	return true;
}

bool packet_socket_send(struct packet_socket *socket, const void *bytes, size_t size, const int *fds, size_t count)
{
	assert(size <= PACKET_BYTES && count <= PACKET_FDS);
	int sent = socket->ended ? -1 : socket->first ? 0 : send_now(socket->readable.fd, bytes, size, fds, count);
	if (sent == 0 && enqueue(socket, bytes, size, fds, count))
		return true;
	close_all(fds, count);
	return sent == 1;
}

static void drop_first(struct packet_socket *socket)
{
	struct queued *item = socket->first;
	socket->first = item->next;
	if (!socket->first)
		socket->last = NULL;
	socket->queued--;
	close_all(item->fds, item->count);
	free(item);
}

static void drop_queue(struct packet_socket *socket)
{
	while (socket->first)
		drop_first(socket);
	ev_io_stop(socket->loop, &socket->writable);
}

static void on_writable(struct ev_loop *loop, ev_io *watcher, int events)
{
	struct packet_socket *socket = watcher->data;
	(void)loop, (void)events;
	while (socket->first) {
		struct queued *item = socket->first;
		if (send_now(watcher->fd, item->bytes, item->size, item->fds, item->count) == 0)
			return;
		drop_first(socket);
	}
	ev_io_stop(socket->loop, &socket->writable);
}

static void end(struct packet_socket *socket)
{
	socket->ended = true;
	ev_io_stop(socket->loop, &socket->readable);
	drop_queue(socket);
	socket->events->ended(socket->owner);
}

static size_t take_fds(struct msghdr *message, int fds[PACKET_FDS])
{
	size_t count = 0;
	for (struct cmsghdr *header = CMSG_FIRSTHDR(message); header; header = CMSG_NXTHDR(message, header)) {
		if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS)
			continue;
		count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		memcpy(fds, CMSG_DATA(header), sizeof(int) * count);
	}
	return count;
}

/* Receive one message and hand it on. False when there is none, or the socket is no more. */
static bool receive(struct packet_socket *socket)
{
	alignas(max_align_t) unsigned char bytes[PACKET_BYTES];
	union control control;
	struct iovec part = {.iov_base = bytes, .iov_len = sizeof bytes};
	struct msghdr message = {
		.msg_iov = &part, .msg_iovlen = 1, .msg_control = control.space, .msg_controllen = sizeof control.space};
	ssize_t size = recvmsg(socket->readable.fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	if (size < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (size <= 0) {
		end(socket);
		return false;
	}
	int fds[PACKET_FDS];
	struct packet packet = {.bytes = bytes, .size = (size_t)size, .fds = fds, .fd_count = take_fds(&message, fds)};
	bool destroyed = false;
	socket->destroyed = &destroyed;
	socket->events->received(socket->owner, &packet);
	close_all(fds, packet.fd_count);
	if (!destroyed)
		socket->destroyed = NULL;
	return !destroyed;
}

static void on_readable(struct ev_loop *loop, ev_io *watcher, int events)
{
	struct packet_socket *socket = watcher->data;
	(void)loop, (void)events;
	for (unsigned i = 0; i < READS_PER_TURN && receive(socket); i++)
		;
}

struct packet_socket *packet_socket_create(struct ev_loop *loop, int fd, const struct packet_events *events,
                                           void *owner)
{
	struct packet_socket *socket = calloc(1, sizeof *socket);
	if (!socket)
		abort();
	socket->loop = loop;
	socket->events = events;
	socket->owner = owner;
	ev_io_init(&socket->readable, on_readable, fd, EV_READ);
	ev_io_init(&socket->writable, on_writable, fd, EV_WRITE);
	socket->readable.data = socket;
	socket->writable.data = socket;
	ev_io_start(loop, &socket->readable);
	return socket;
}

void packet_socket_destroy(struct packet_socket *socket)
{
	if (!socket)
		return;
	if (socket->destroyed)
		*socket->destroyed = true;
	drop_queue(socket);
	ev_io_stop(socket->loop, &socket->readable);
	close(socket->readable.fd);
	free(socket);
}
