/*
 * watch.h: the user's own descriptors, gathered behind one: an epoll descriptor, which the loop polls as if it were a
 * single file. (libwebsockets' own adoption of files closes one that hangs up with its tail unread, and loses wake-ups
 * asked for inside a callback.)
 */
#ifndef SANDBAR_CLIENT_WATCH_H
#define SANDBAR_CLIENT_WATCH_H

#include "sandbar.h"

struct watches {
	struct watch *rows;
	size_t count, capacity;
	int epoll;
	size_t always_ready; /* rows of files that epoll does not take, with events wanted */
};

int watches_init(struct watches *watches, struct sandbar_error *error);
void watches_finish(struct watches *watches, bool close_epoll);

int watches_set(struct watches *watches, int fd, unsigned events, sandbar_watch_callback callback, void *user,
                struct sandbar_error *error);
void watches_remove(struct watches *watches, int fd);

/* Call back whoever is ready now; does not wait. */
void watches_dispatch(struct watches *watches, struct sandbar *sandbar);

#endif
