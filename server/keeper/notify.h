/*
 * notify.h: what systemd, or whoever set NOTIFY_SOCKET, is told: one datagram each (sd_notify(3)). Without that
 * variable, nothing.
 */
#ifndef SANDBAR_NOTIFY_H
#define SANDBAR_NOTIFY_H

#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

struct notify {
	int socket; /* -1: nobody listens */
	struct sockaddr_un address;
	socklen_t length;
	uint64_t watchdog_ns; /* how often "WATCHDOG=1" is due; 0 = never */
};

void notify_init(struct notify *notify); /* from the environment */
void notify_finish(struct notify *notify);
void notify_send(const struct notify *notify, const char *state); /* "READY=1" */

#endif
