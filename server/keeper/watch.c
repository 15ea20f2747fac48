#include "watch.h"

#include <errno.h>
#include <stddef.h>
#include <sys/epoll.h>

int watch_add(int epoll, int fd, uint32_t events, struct watch *watch, struct error *err)
{
	struct epoll_event event = {.events = events, .data.ptr = watch};
	if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) < 0)
		return error_set(err, errno, "watch a descriptor");
	return 0;
}

void watch_change(int epoll, int fd, uint32_t events, struct watch *watch)
{
	struct epoll_event event = {.events = events, .data.ptr = watch};
	epoll_ctl(epoll, EPOLL_CTL_MOD, fd, &event);
}

void watch_remove(int epoll, int fd)
{
	epoll_ctl(epoll, EPOLL_CTL_DEL, fd, NULL);
}

/* One event at a time: what one event frees, another event of the same batch could still point at. The number of
 * turns is bounded, so that the caller sees its own descriptors again; epoll serves the ready ones in turn. */
void watch_run(int epoll)
{
	struct epoll_event event;
	for (unsigned turn = 0; turn < 64 && epoll_wait(epoll, &event, 1, 0) == 1; turn++) {
		struct watch *watch = event.data.ptr;
		watch->ready(watch->subject, event.events);
	}
}
