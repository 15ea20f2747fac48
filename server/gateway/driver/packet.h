/*
 * packet.h: one end of a SOCK_SEQPACKET pair on the loop: messages with descriptors, in and out.
 *
 * What the socket does not take at once waits in a bounded queue. No callback comes from within a call; a callback may
 * destroy the socket.
 */
#ifndef SANDBAR_PACKET_H
#define SANDBAR_PACKET_H

#include <ev.h>
#include <stdbool.h>
#include <stddef.h>

enum {
	PACKET_BYTES = 4096,  /* of one message */
	PACKET_FDS = 16,      /* with one message */
	PACKET_QUEUE = 16384, /* messages that may wait */
};

struct packet {
	const void *bytes; /* aligned for any type */
	size_t size;
	int *fds; /* close-on-exec; whoever keeps one puts -1 in its place, the others are closed */
	size_t fd_count;
};

struct packet_events {
	void (*received)(void *owner, struct packet *packet);
	void (*ended)(void *owner); /* the other end is gone; told once, after everything it had sent */
};

struct packet_socket;

/* FD (non-blocking) is the socket's from here on. EVENTS is borrowed. */
struct packet_socket *packet_socket_create(struct ev_loop *loop, int fd, const struct packet_events *events,
                                           void *owner);
void packet_socket_destroy(struct packet_socket *socket); /* NULL is allowed */

/* Send SIZE bytes with COUNT descriptors, which are closed here in any case. False if it was not taken: the other end
 * is gone, or the queue is full. */
bool packet_socket_send(struct packet_socket *socket, const void *bytes, size_t size, const int *fds, size_t count);

#endif
