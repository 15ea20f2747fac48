#include "sink.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WRITE_BYTES = 256 * 1024 };

static int open_again(int fd)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

void sink_init(struct sink *sink, struct sandbar *sandbar, int fd)
{
	struct stat status = {0};

	*sink = (struct sink){.sandbar = sandbar, .fd = fd, .own = -1, .most = WRITE_BYTES};
	if (fstat(fd, &status) < 0) {
		sink->failure = errno;
		return;
	}
	sink->is_socket = S_ISSOCK(status.st_mode);
	if (S_ISFIFO(status.st_mode) || isatty(fd)) {
		sink->own = open_again(fd);
		sink->must_poll = sink->own < 0;
	}
	if (sink->must_poll)
		sink->most = PIPE_BUF; /* pipe(7): POLLOUT promises room for that many */
}

void sink_finish(struct sink *sink)
{
	if (sink->own >= 0) {
		sandbar_unwatch_fd(sink->sandbar, sink->own);
		close(sink->own);
	}
	sandbar_unwatch_fd(sink->sandbar, sink->fd);
	free(sink->bytes);
	*sink = (struct sink){.fd = -1, .own = -1};
}

static int descriptor(const struct sink *sink)
{
	return sink->own >= 0 ? sink->own : sink->fd;
}

static bool may_write(const struct sink *sink)
{
	struct pollfd poll_fd = {.fd = sink->fd, .events = POLLOUT};

	return !sink->must_poll || poll(&poll_fd, 1, 0) > 0;
}

/* Bytes written, 0 if it takes none now; a failure is kept in the sink. */
static size_t write_some(struct sink *sink, const uint8_t *bytes, size_t length)
{
	size_t most = length < sink->most ? length : sink->most;
	ssize_t written;

	if (!may_write(sink))
		return 0;
	do
		written = sink->is_socket ? send(sink->fd, bytes, most, MSG_DONTWAIT | MSG_NOSIGNAL)
		                          : write(descriptor(sink), bytes, most);
	while (written < 0 && errno == EINTR);
	if (written >= 0)
		return (size_t)written;
	if (errno != EAGAIN)
		sink->failure = errno;
	return 0;
}

static size_t write_all(struct sink *sink, const uint8_t *bytes, size_t length)
{
	size_t total = 0, written = 1;

	while (total < length && written > 0) {
		written = write_some(sink, bytes + total, length - total);
		total += written;
	}
	return total;
}

static void keep(struct sink *sink, const uint8_t *bytes, size_t length)
{
	if (sink->start + sink->length + length > sink->capacity) {
		if (sink->length)
			memmove(sink->bytes, sink->bytes + sink->start, sink->length);
		sink->start = 0;
	}
	if (sink->length + length > sink->capacity) {
		sink->capacity = (sink->length + length) * 2;
		sink->bytes = realloc(sink->bytes, sink->capacity);
		if (!sink->bytes)
			abort();
	}
	memcpy(sink->bytes + sink->start + sink->length, bytes, length);
	sink->length += length;
}

static void on_ready(struct sandbar *sandbar, int fd, unsigned ready, void *user)
{
	struct sink *sink = user;
	size_t written = write_all(sink, sink->bytes + sink->start, sink->length);

	(void)ready;
	sink->start += written;
	sink->length -= written;
	if (sink->failure)
		sink->length = 0;
	if (sink->length == 0)
		sandbar_watch_fd(sandbar, fd, 0, on_ready, sink, NULL);
	if ((written || sink->failure) && sink->changed)
		sink->changed(sink, sink->user);
}

void sink_write(struct sink *sink, const void *bytes, size_t length)
{
	size_t written = sink->length || sink->failure ? 0 : write_all(sink, bytes, length);

	if (sink->failure) {
		if (sink->changed)
			sink->changed(sink, sink->user);
		return;
	}
	if (written == length)
		return;
	keep(sink, (const uint8_t *)bytes + written, length - written);
	sandbar_watch_fd(sink->sandbar, descriptor(sink), SANDBAR_WRITABLE, on_ready, sink, NULL);
}

size_t sink_held(const struct sink *sink)
{
	return sink->length;
}

bool sink_is_same(int fd, int other)
{
	struct stat a, b;
	unsigned terminal, other_terminal; /* by another name, as /dev/tty, it has another inode */

	if (ioctl(fd, TIOCGDEV, &terminal) == 0 && ioctl(other, TIOCGDEV, &other_terminal) == 0)
		return terminal == other_terminal;
	return fstat(fd, &a) == 0 && fstat(other, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}
