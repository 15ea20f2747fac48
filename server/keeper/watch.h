/*
 * watch.h: what an epoll event points at: whom to tell, and of what.
 */
#ifndef SANDBAR_WATCH_H
#define SANDBAR_WATCH_H

#include "sandbox/error.h"

#include <stdint.h>

struct watch {
	void (*ready)(void *subject, uint32_t events); /* may remove this watch, or any other */
	void *subject;
};

/* Tell WATCH (which stays where it is) of EVENTS (epoll(7)'s) on FD. */
int watch_add(int epoll, int fd, uint32_t events, struct watch *watch, struct error *err);
void watch_change(int epoll, int fd, uint32_t events, struct watch *watch);
void watch_remove(int epoll, int fd);
/* Tell of everything that is ready. Never blocks. */
void watch_run(int epoll);

#endif
