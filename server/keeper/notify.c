#include "notify.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* WATCHDOG_USEC counts for the process that WATCHDOG_PID names. Twice in that time is what sd_watchdog_enabled(3) says. */
static uint64_t watchdog_of(void)
{
	const char *time = getenv("WATCHDOG_USEC"), *pid = getenv("WATCHDOG_PID");
	if (!time || (pid && strtol(pid, NULL, 10) != (long)getpid()))
		return 0;
	return strtoull(time, NULL, 10) * 1000 / 2;
}

void notify_init(struct notify *notify)
{
	*notify = (struct notify){.socket = -1, .address = {.sun_family = AF_UNIX}};
	const char *path = getenv("NOTIFY_SOCKET");
	size_t length = path ? strlen(path) : 0;
	if (length < 2 || length >= sizeof notify->address.sun_path || (path[0] != '/' && path[0] != '@'))
		return;
	memcpy(notify->address.sun_path, path, length);
	if (path[0] == '@') /* the abstract namespace: no file */
		notify->address.sun_path[0] = '\0';
	notify->length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length);
	notify->socket = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	notify->watchdog_ns = watchdog_of();
}

void notify_finish(struct notify *notify)
{
	if (notify->socket >= 0)
		close(notify->socket);
	notify->socket = -1;
}

void notify_send(const struct notify *notify, const char *state)
{
	if (notify->socket >= 0)
		sendto(notify->socket, state, strlen(state), MSG_NOSIGNAL, (const struct sockaddr *)&notify->address,
		       notify->length);
}
