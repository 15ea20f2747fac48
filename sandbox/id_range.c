#include "id_range.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <unistd.h>

static bool is_taken(const struct id_range *range, unsigned block)
{
	return range->taken[block / 64] >> block % 64 & 1;
}

static void take(struct id_range *range, unsigned block)
{
	range->taken[block / 64] |= (uint64_t)1 << block % 64;
}

void id_range_init(struct id_range *range)
{
	*range = (struct id_range){0};
	unsigned start = 0;
	if (getrandom(&start, sizeof start, GRND_NONBLOCK) < 0)
		start = (unsigned)getpid();
	range->next = start % ID_BLOCKS;
	take(range, 0);
	take(range, (ID_OF_GATEWAY - ID_RANGE_BASE) / ID_BLOCK);
}

void id_range_exclude(struct id_range *range, const char *text)
{
	for (const char *line = text; line && *line; line = strchr(line, '\n')) {
		line += *line == '\n';
		uint64_t first, count;
		if (sscanf(line, "%*[^:\n]:%" SCNu64 ":%" SCNu64, &first, &count) != 2 || count == 0)
			continue;
		for (unsigned block = 0; block < ID_BLOCKS; block++) {
			uint64_t low = ID_RANGE_BASE + (uint64_t)block * ID_BLOCK;
			if (first < low + ID_BLOCK && (first >= low || count > low - first))
				take(range, block);
		}
	}
}

int id_range_take(struct id_range *range, struct error *err)
{
	for (unsigned i = 0; i < ID_BLOCKS; i++) {
		unsigned block = (range->next + i) % ID_BLOCKS;
		if (is_taken(range, block))
			continue;
		take(range, block);
		range->next = (block + 1) % ID_BLOCKS;
		return (int)block;
	}
	return error_set(err, EAGAIN, "all %d blocks of user ids are in use", ID_BLOCKS);
}

void id_range_give(struct id_range *range, int block)
{
	if (block >= 0)
		range->taken[block / 64] &= ~((uint64_t)1 << block % 64);
}

bool id_range_is_mapped(const char *text)
{
	uint64_t inside, outside, count;
	for (const char *line = text; line && *line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (sscanf(line, "%" SCNu64 " %" SCNu64 " %" SCNu64, &inside, &outside, &count) == 3 &&
		    inside <= ID_RANGE_BASE && inside + count >= ID_RANGE_BASE + (uint64_t)ID_BLOCKS * ID_BLOCK)
			return true;
	}
	return false;
}

static int write_text(const char *path, const char *text, struct error *err)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return error_set(err, errno, "open `%s`", path);
	ssize_t n = write(fd, text, strlen(text));
	int errnum = errno;
	close(fd);
	return n >= 0 ? 0 : error_set(err, errnum, "write `%s` to `%s`", text, path);
}

int id_range_map(pid_t pid, int block, struct error *err)
{
	char path[64], text[64];
	snprintf(text, sizeof text, "0 %u %d", ID_RANGE_BASE + (unsigned)block * ID_BLOCK, ID_BLOCK);
	snprintf(path, sizeof path, "/proc/%d/uid_map", pid);
	if (write_text(path, text, err) < 0)
		return -1;
	snprintf(path, sizeof path, "/proc/%d/gid_map", pid);
	return write_text(path, text, err);
}

static int write_single_maps(struct id_pair inside, struct id_pair outside, struct error *err)
{
	char text[64];
	if (write_text("/proc/self/setgroups", "deny", err) < 0)
		return -1;
	snprintf(text, sizeof text, "%u %u 1", inside.uid, outside.uid);
	if (write_text("/proc/self/uid_map", text, err) < 0)
		return -1;
	snprintf(text, sizeof text, "%u %u 1", inside.gid, outside.gid);
	return write_text("/proc/self/gid_map", text, err);
}

/* An undumpable process's /proc/self belongs to the real root: it is made dumpable for as long as the writing takes. */
int id_single_map(struct id_pair inside, struct id_pair outside, struct error *err)
{
	int dumpable = prctl(PR_GET_DUMPABLE);
	if (dumpable != 1)
		prctl(PR_SET_DUMPABLE, 1);
	int result = write_single_maps(inside, outside, err);
	if (dumpable != 1)
		prctl(PR_SET_DUMPABLE, 0);
	return result;
}
