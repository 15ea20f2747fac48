#include "plain_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

int plain_file_open(int directory, const char *name, int flags, mode_t mode)
{
	int fd = openat(directory, name, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, mode);
	struct stat status;
	if (fd < 0)
		return -1;
	if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode))
		return fd;
	close(fd);
	errno = ENXIO;
	return -1;
}

/* Up to ROOM bytes, fewer at the end of the file; -1 with errno. */
static ssize_t read_up_to(int fd, char *bytes, size_t room)
{
	size_t got = 0;
	while (got < room) {
		ssize_t now = read(fd, bytes + got, room - got);
		if (now < 0 && errno == EINTR)
			continue;
		if (now < 0)
			return -1;
		if (now == 0)
			break;
		got += (size_t)now;
	}
	return (ssize_t)got;
}

/* NULL with errno. It may grow or shrink meanwhile. */
static char *read_open(int fd, size_t most, size_t *length)
{
	struct stat status;
	if (fstat(fd, &status) < 0)
		return NULL;
	if ((uintmax_t)status.st_size > most) {
		errno = EFBIG;
		return NULL;
	}
	char *text = malloc((size_t)status.st_size + 1);
	if (!text)
		abort();
	ssize_t got = read_up_to(fd, text, (size_t)status.st_size);
	if (got < 0) {
		free(text);
		return NULL;
	}
	text[got] = '\0';
	*length = (size_t)got;
	return text;
}

char *plain_file_read(int directory, const char *name, size_t most, size_t *length)
{
	int fd = plain_file_open(directory, name, O_RDONLY, 0);
	if (fd < 0)
		return NULL;
	char *text = read_open(fd, most, length);
	int errnum = errno;
	close(fd);
	errno = errnum;
	return text;
}
