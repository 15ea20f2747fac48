#include "segment.h"

#include "protocol/frame.h"
#include "server/base/plain_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PREFIX "record-"

void segment_name(uint64_t first, char name[SEGMENT_NAME_BYTES])
{
	snprintf(name, SEGMENT_NAME_BYTES, PREFIX "%016" PRIx64, first);
}

bool segment_is_name(const char *name, uint64_t *first)
{
	size_t prefix = strlen(PREFIX);
	if (strncmp(name, PREFIX, prefix) != 0 || strlen(name) != SEGMENT_NAME_BYTES - 1 ||
	    strspn(name + prefix, "0123456789abcdef") != 16)
		return false;
	*first = strtoull(name + prefix, NULL, 16);
	return true;
}

static int compare(const void *a, const void *b)
{
	const struct segment *one = a, *other = b;
	return one->first < other->first ? -1 : one->first > other->first;
}

static void add(struct segments *segments, uint64_t first, uint64_t bytes)
{
	segments->rows = realloc(segments->rows, (segments->count + 1) * sizeof *segments->rows);
	if (!segments->rows)
		abort();
	segments->rows[segments->count++] = (struct segment){.first = first, .bytes = bytes};
	segments->bytes += bytes;
}

int segments_list(struct segments *segments, int directory, struct error *err)
{
	*segments = (struct segments){0};
	int fd = openat(directory, ".", O_DIRECTORY | O_RDONLY | O_CLOEXEC);
	DIR *folder = fd >= 0 ? fdopendir(fd) : NULL;
	if (!folder) {
		error_set(err, errno, "list the segments of a record");
		if (fd >= 0)
			close(fd);
		return -1;
	}
	const struct dirent *entry;
	while ((entry = readdir(folder))) {
		uint64_t first;
		struct stat status;
		if (segment_is_name(entry->d_name, &first) &&
		    fstatat(directory, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0)
			add(segments, first, (uint64_t)status.st_size);
	}
	closedir(folder);
	if (segments->count > 1)
		qsort(segments->rows, segments->count, sizeof *segments->rows, compare);
	return 0;
}

void segments_finish(struct segments *segments)
{
	free(segments->rows);
	*segments = (struct segments){0};
}

static bool read_gap(const uint8_t *at, size_t length, uint64_t *from, uint64_t *to)
{
	struct reader reader = reader_over(at, length);
	uint32_t fields;
	uint64_t kind;
	return reader_array(&reader, &fields) && fields == 3 && reader_uint(&reader, &kind) && kind == FRAME_GAP &&
	       reader_uint(&reader, from) && reader_uint(&reader, to);
}

#define SEQ_MOST (UINT64_C(1) << 53) /* as all integers of the wire */

static enum segment_found other_frame(const uint8_t *at, size_t have, uint64_t seq, size_t *length, uint64_t *next)
{
	struct reader reader = reader_over(at, have);
	uint64_t from, to, t_us;
	uint32_t kind;
	if (!reader_skip(&reader))
		return have < SEGMENT_FRAME ? SEGMENT_PART : SEGMENT_WRONG;
	*length = (size_t)(reader.at - at);
	if (read_gap(at, *length, &from, &to) && from == seq && to >= from && to < SEQ_MOST) {
		*next = to + 1;
		return SEGMENT_GAP;
	}
	*next = seq + 1;
	return event_head_read(at, *length, &kind, &from, &t_us) && from == seq ? SEGMENT_EVENT : SEGMENT_WRONG;
}

enum segment_found segment_frame(const uint8_t *at, size_t have, uint64_t seq, size_t *length, uint64_t *next)
{
	struct output_header output;
	if (!output_header_read(at, have, &output))
		return other_frame(at, have, seq, length, next);
	if (output.seq != seq || output.length > JOURNAL_READ)
		return SEGMENT_WRONG;
	*length = OUTPUT_HEADER_BYTES + output.length;
	*next = seq + 1;
	return *length <= have ? SEGMENT_EVENT : SEGMENT_PART;
}

/* Walk over whole frames of the HAVE bytes at AT; returns how many bytes they are. */
static size_t walk(const uint8_t *at, size_t have, uint64_t *seq)
{
	size_t used = 0, length;
	uint64_t next;
	while (used < have) {
		enum segment_found found = segment_frame(at + used, have - used, *seq, &length, &next);
		if (found != SEGMENT_EVENT && found != SEGMENT_GAP)
			break;
		used += length;
		*seq = next;
	}
	return used;
}

int segment_measure(int directory, const struct segment *segment, uint64_t *bytes, uint64_t *next, struct error *err)
{
	enum { BLOCK = 2 * SEGMENT_FRAME };
	char name[SEGMENT_NAME_BYTES];
	segment_name(segment->first, name);
	int fd = plain_file_open(directory, name, O_RDONLY, 0);
	if (fd < 0)
		return error_set(err, errno, "open `%s`", name);
	uint8_t *block = malloc(BLOCK);
	if (!block)
		abort();
	*bytes = 0;
	*next = segment->first;
	ssize_t got;
	size_t used;
	do {
		got = pread(fd, block, BLOCK, (off_t)*bytes);
		used = got > 0 ? walk(block, (size_t)got, next) : 0;
		*bytes += used;
	} while (used > 0);
	int failed = errno;
	free(block);
	close(fd);
	return got < 0 ? error_set(err, failed, "read `%s`", name) : 0;
}
