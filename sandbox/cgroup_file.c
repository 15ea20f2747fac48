#include "cgroup_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int cgroup_write(int dir, const char *file, const char *text, struct error *err)
{
	int fd = dir < 0 ? -1 : openat(dir, file, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return error_set(err, dir < 0 ? ENOENT : errno, "open cgroup file `%s`", file);
	ssize_t n = write(fd, text, strlen(text));
	int errnum = errno;
	close(fd);
	return n >= 0 ? 0 : error_set(err, errnum, "write `%s` to cgroup file `%s`", text, file);
}

int cgroup_write_number(int dir, const char *file, uint64_t number, struct error *err)
{
	char text[24];
	snprintf(text, sizeof text, "%" PRIu64, number);
	return cgroup_write(dir, file, text, err);
}

ssize_t cgroup_read(int dir, const char *file, char *text, size_t size, struct error *err)
{
	int fd = dir < 0 ? -1 : openat(dir, file, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return error_set(err, dir < 0 ? ENOENT : errno, "open cgroup file `%s`", file);
	size_t length = 0;
	ssize_t n = 0;
	while (length < size - 1 && (n = read(fd, text + length, size - 1 - length)) > 0)
		length += (size_t)n;
	int errnum = errno;
	close(fd);
	text[length] = '\0';
	return n >= 0 ? (ssize_t)length : error_set(err, errnum, "read cgroup file `%s`", file);
}

uint64_t cgroup_find_number(const char *text, const char *key)
{
	size_t length = strlen(key);
	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, key, length) == 0 && line[length] == ' ')
			return strtoull(line + length + 1, NULL, 10);
	}
	return UINT64_MAX;
}

uint64_t cgroup_read_number(int dir, const char *file, const char *key)
{
	char text[2048];
	if (cgroup_read(dir, file, text, sizeof text, NULL) <= 0)
		return UINT64_MAX;
	return key ? cgroup_find_number(text, key) : strtoull(text, NULL, 10);
}

uint64_t cgroup_without(uint64_t number, uint64_t part)
{
	if (number == UINT64_MAX || part == UINT64_MAX)
		return number;
	return number > part ? number - part : 0;
}
