#include "streams.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

enum { WIDE_PIPE_BYTES = 1024 * 1024 };

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* Else /dev/stdout could not be opened: that opens the pipe anew, with the rights of its owner. */
static int give(int fd, const struct settings *settings)
{
	return settings->uid == getuid() ? 0 : fchown(fd, settings->uid, settings->gid);
}

/* O_NONBLOCK belongs to an open description, and each end of a pipe has its own: the process's stays blocking. */
static int open_pipe(int *ours, int *theirs, bool we_read, const struct settings *settings)
{
	int ends[2];
	if (pipe2(ends, O_CLOEXEC) < 0)
		return -1;
	*ours = ends[we_read ? 0 : 1];
	*theirs = ends[we_read ? 1 : 0];
	return fcntl(*ours, F_SETFL, O_NONBLOCK) < 0 ? -1 : give(*theirs, settings);
}

int streams_open_pipes(struct streams *streams, struct stdio *stdio, const struct settings *settings, bool wants_stdin,
                       bool is_wide)
{
	*streams = STREAMS_NONE;
	*stdio = STDIO_NONE;
	if (open_pipe(&streams->out, &stdio->fds[1], true, settings) < 0 ||
	    open_pipe(&streams->err, &stdio->fds[2], true, settings) < 0 ||
	    (wants_stdin && open_pipe(&streams->in, &stdio->fds[0], false, settings) < 0)) {
		int errnum = errno;
		streams_close(streams);
		stdio_close(stdio);
		errno = errnum;
		return -1;
	}
	if (is_wide)
		(void)fcntl(streams->out, F_SETPIPE_SZ, WIDE_PIPE_BYTES);
	return 0;
}

/* The erase character takes a whole character, not a byte: the sandbox's locale is UTF-8. */
static int prepare_terminal(int slave, const struct settings *settings)
{
	struct termios modes;
	if (tcgetattr(slave, &modes) < 0)
		return -1;
	modes.c_iflag |= IUTF8;
	if (tcsetattr(slave, TCSANOW, &modes) < 0)
		return -1;
	struct stat status;
	if (fstat(slave, &status) < 0)
		return -1;
	return status.st_uid == settings->uid ? 0 : fchown(slave, settings->uid, (gid_t)-1);
}

static int open_slave(int master, uint16_t cols, uint16_t rows)
{
	struct winsize size = {.ws_col = cols, .ws_row = rows};
	int locked = 0;
	if (ioctl(master, TIOCSPTLCK, &locked) < 0 || ioctl(master, TIOCSWINSZ, &size) < 0)
		return -1;
	return ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
}

int streams_open_terminal(struct streams *streams, struct stdio *stdio, const struct settings *settings, uint16_t cols,
                          uint16_t rows)
{
	*streams = STREAMS_NONE;
	*stdio = STDIO_NONE;
	streams->tty = open(settings->ptmx, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
	int slave = streams->tty < 0 ? -1 : open_slave(streams->tty, cols, rows);
	if (slave < 0 || prepare_terminal(slave, settings) < 0) {
		int errnum = errno;
		close_fd(&slave);
		streams_close(streams);
		errno = errnum;
		return -1;
	}
	for (int i = 0; i < 3; i++)
		stdio->fds[i] = slave;
	return 0;
}

int streams_open_shell(struct streams *streams, struct stdio *stdio, const struct settings *settings, bool is_wide)
{
	struct streams terminal;
	struct stdio slave;
	if (streams_open_terminal(&terminal, &slave, settings, 0, 0) < 0)
		return -1;
	if (streams_open_pipes(streams, stdio, settings, true, is_wide) < 0) {
		int errnum = errno;
		streams_close(&terminal);
		stdio_close(&slave);
		errno = errnum;
		return -1;
	}
	streams->console = terminal.tty;
	stdio->fds[STDIO_CONSOLE] = slave.fds[0];
	if (open_pipe(&streams->status, &stdio->fds[STDIO_STATUS], true, settings) == 0)
		return 0;
	int errnum = errno;
	streams_close(streams);
	stdio_close(stdio);
	errno = errnum;
	return -1;
}

size_t streams_list(const struct streams *streams, int fds[STREAMS_MOST])
{
	const int ours[] = {streams->tty, streams->out, streams->err, streams->in, streams->status};
	size_t count = 0;
	for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
		if (ours[i] >= 0)
			fds[count++] = ours[i];
	return count;
}

void streams_close_stdin(struct streams *streams)
{
	close_fd(&streams->in);
}

void streams_close(struct streams *streams)
{
	close_fd(&streams->tty);
	close_fd(&streams->out);
	close_fd(&streams->err);
	close_fd(&streams->in);
	close_fd(&streams->status);
	close_fd(&streams->console);
}

void stdio_close(struct stdio *stdio)
{
	if (stdio->fds[1] == stdio->fds[0])
		stdio->fds[1] = stdio->fds[2] = -1;
	for (int i = 0; i < STDIO_FDS; i++)
		close_fd(&stdio->fds[i]);
}
