#include "spare.h"

#include "plain_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *beside(char path[SPARE_NAME_BYTES], const char *name, const char *what)
{
	snprintf(path, SPARE_NAME_BYTES, "%s.%s", name, what);
	return path;
}

static bool write_all(int fd, const char *text, size_t length)
{
	for (size_t done = 0; done < length;) {
		ssize_t wrote = pwrite(fd, text + done, length - done, (off_t)done);
		if (wrote < 0 && errno == EINTR)
			continue;
		if (wrote <= 0)
			return false;
		done += (size_t)wrote;
	}
	return true;
}

/* 0, or an errno. */
static int write_new(const struct spare_file *file, const char *text, size_t length)
{
	char part[SPARE_NAME_BYTES];
	unlinkat(file->directory, beside(part, file->name, "part"), 0);
	int fd = openat(file->directory, part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	bool good = fd >= 0 && write_all(fd, text, length) && (!file->is_synced || fsync(fd) == 0);
	int failed = errno;
	if (fd >= 0)
		close(fd);
	if (good && renameat(file->directory, part, file->directory, file->name) == 0)
		return 0;
	failed = good ? errno : failed;
	unlinkat(file->directory, part, 0);
	return failed;
}

/* It is written over in place, so it must stand on disk before it takes the file's name. */
static bool fill_spare(int fd, const char *text, size_t length)
{
	struct stat status;
	if (fstat(fd, &status) < 0 || (size_t)status.st_size < length)
		return false;
	size_t room = (size_t)status.st_size;
	char *padded = malloc(room + 1);
	if (!padded)
		abort();
	memcpy(padded, text, length);
	memset(padded + length, '\n', room - length);
	bool good = write_all(fd, padded, room) && fsync(fd) == 0;
	free(padded);
	return good;
}

static bool use_spare(const struct spare_file *file, const char *text, size_t length)
{
	char spare[SPARE_NAME_BYTES];
	int fd = plain_file_open(file->directory, beside(spare, file->name, "spare"), O_WRONLY, 0);
	bool good = fd >= 0 && fill_spare(fd, text, length);
	if (fd >= 0)
		close(fd);
	return good && renameat2(file->directory, spare, file->directory, file->name, RENAME_EXCHANGE) == 0;
}

static off_t round_up(off_t bytes)
{
	return (bytes + SPARE_BLOCK - 1) / SPARE_BLOCK * SPARE_BLOCK;
}

/* For a text of LENGTH bytes, and more. One that is there may grow, and else keeps what it has: the rest of its last block at
 * least. */
static void make_spare(const struct spare_file *file, off_t length)
{
	char spare[SPARE_NAME_BYTES];
	int fd = plain_file_open(file->directory, beside(spare, file->name, "spare"), O_WRONLY | O_CREAT, 0600);
	struct stat status;
	if (fd < 0)
		return;
	if (fstat(fd, &status) == 0 && status.st_size < length + SPARE_SLACK &&
	    posix_fallocate(fd, 0, round_up(length + SPARE_SLACK)) != 0 &&
	    (status.st_size == 0 || posix_fallocate(fd, 0, round_up(status.st_size)) != 0))
		(void)!ftruncate(fd, status.st_size);
	close(fd);
}

/* Without the empty lines that it ends in where it was a spare: else the next one would be larger each time. -1: there is none. */
static off_t text_length(int fd)
{
	struct stat status;
	char last[SPARE_BLOCK];
	off_t length = fstat(fd, &status) == 0 ? status.st_size : -1;
	while (length > 0) {
		size_t size = length < (off_t)sizeof last ? (size_t)length : sizeof last;
		ssize_t got = pread(fd, last, size, length - (off_t)size);
		if (got != (ssize_t)size)
			break;
		while (size > 0 && last[size - 1] == '\n')
			size--;
		length -= got - (ssize_t)size;
		if (size > 0)
			break;
	}
	return length;
}

void spare_file_reserve(const struct spare_file *file)
{
	int fd = plain_file_open(file->directory, file->name, O_RDONLY, 0);
	off_t length = fd >= 0 ? text_length(fd) : -1;
	if (fd >= 0)
		close(fd);
	if (length >= 0)
		make_spare(file, length);
}

void spare_file_drop(int directory, const char *name)
{
	char spare[SPARE_NAME_BYTES];
	unlinkat(directory, beside(spare, name, "spare"), 0);
}

int spare_file_replace(const struct spare_file *file, const char *text, struct error *err)
{
	size_t length = strlen(text);
	int failed = write_new(file, text, length);
	if ((failed == ENOSPC || failed == EDQUOT) && use_spare(file, text, length))
		failed = 0;
	if (failed)
		return error_set(err, failed, "write `%s`", file->name);
	if (file->is_changed)
		make_spare(file, (off_t)length);
	return 0;
}
