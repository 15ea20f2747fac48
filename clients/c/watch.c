#include "watch.h"

#include "failure.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

enum { READY_AT_ONCE = 16 };

struct watch {
	int fd; /* -1: free */
	unsigned events;
	bool is_file; /* always ready */
	sandbar_watch_callback callback;
	void *user;
};

int watches_init(struct watches *watches, struct sandbar_error *error)
{
	*watches = (struct watches){.epoll = epoll_create1(EPOLL_CLOEXEC)};
	if (watches->epoll < 0)
		return failure_set(error, "system", "epoll_create1: %s", strerror(errno));
	return 0;
}

void watches_finish(struct watches *watches, bool close_epoll)
{
	if (close_epoll && watches->epoll >= 0)
		close(watches->epoll);
	free(watches->rows);
	*watches = (struct watches){.epoll = -1};
}

static struct watch *find(struct watches *watches, int fd)
{
	for (size_t i = 0; i < watches->count; i++)
		if (watches->rows[i].fd == fd)
			return &watches->rows[i];
	return NULL;
}

static struct watch *add(struct watches *watches, int fd)
{
	struct watch *free_row = find(watches, -1);

	if (!free_row) {
		if (watches->count == watches->capacity) {
			watches->capacity = watches->capacity ? watches->capacity * 2 : 8;
			watches->rows = realloc(watches->rows, watches->capacity * sizeof(*watches->rows));
			if (!watches->rows)
				abort();
		}
		free_row = &watches->rows[watches->count++];
	}
	*free_row = (struct watch){.fd = fd};
	return free_row;
}

static int tell_epoll(struct watches *watches, int operation, const struct watch *watch)
{
	struct epoll_event event = {.data.fd = watch->fd};

	if (watch->events & SANDBAR_READABLE)
		event.events |= EPOLLIN;
	if (watch->events & SANDBAR_WRITABLE)
		event.events |= EPOLLOUT;
	return epoll_ctl(watches->epoll, operation, watch->fd, &event);
}

static void count_files(struct watches *watches)
{
	watches->always_ready = 0;
	for (size_t i = 0; i < watches->count; i++)
		if (watches->rows[i].fd >= 0 && watches->rows[i].is_file && watches->rows[i].events)
			watches->always_ready++;
}

/* A watch without events is taken out of epoll, which reports a hang-up even to who asked for nothing. */
static int apply(struct watches *watches, struct watch *watch, unsigned before)
{
	if (watch->is_file || before == watch->events)
		return 0;
	if (watch->events == 0)
		return epoll_ctl(watches->epoll, EPOLL_CTL_DEL, watch->fd, NULL);
	if (tell_epoll(watches, before ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, watch) == 0)
		return 0;
	if (errno != EPERM)
		return -1;
	watch->is_file = true;
	return 0;
}

int watches_set(struct watches *watches, int fd, unsigned events, sandbar_watch_callback callback, void *user,
                struct sandbar_error *error)
{
	struct watch *watch = fd < 0 ? NULL : find(watches, fd);

	if (fd < 0)
		return failure_set(error, "usage", "watch descriptor %d: it is not open", fd);
	if (!watch)
		watch = add(watches, fd);
	unsigned before = watch->events;
	watch->events = events;
	watch->callback = callback;
	watch->user = user;
	if (apply(watches, watch, before) < 0) {
		int errnum = errno;
		watch->fd = -1;
		return failure_set(error, "system", "watch descriptor %d: %s", fd, strerror(errnum));
	}
	count_files(watches);
	return 0;
}

void watches_remove(struct watches *watches, int fd)
{
	struct watch *watch = fd < 0 ? NULL : find(watches, fd);

	if (!watch)
		return;
	if (watch->events && !watch->is_file)
		epoll_ctl(watches->epoll, EPOLL_CTL_DEL, fd, NULL);
	watch->fd = -1;
	count_files(watches);
}

/* The row is looked up again for each call: an earlier callback of this turn may have changed or removed it. */
static void call(struct watches *watches, struct sandbar *sandbar, int fd, unsigned ready)
{
	const struct watch *watch = find(watches, fd);

	if (watch && watch->events)
		watch->callback(sandbar, fd, ready & watch->events ? ready & watch->events : watch->events, watch->user);
}

static void dispatch_files(struct watches *watches, struct sandbar *sandbar)
{
	for (size_t i = 0; i < watches->count && watches->always_ready; i++)
		if (watches->rows[i].fd >= 0 && watches->rows[i].is_file)
			call(watches, sandbar, watches->rows[i].fd, watches->rows[i].events);
}

void watches_dispatch(struct watches *watches, struct sandbar *sandbar)
{
	struct epoll_event ready[READY_AT_ONCE];
	int count = epoll_wait(watches->epoll, ready, READY_AT_ONCE, 0);

	for (int i = 0; i < count; i++) {
		unsigned events = 0;
		if (ready[i].events & EPOLLIN)
			events |= SANDBAR_READABLE;
		if (ready[i].events & EPOLLOUT)
			events |= SANDBAR_WRITABLE;
		call(watches, sandbar, ready[i].data.fd, events);
	}
	dispatch_files(watches, sandbar);
}
