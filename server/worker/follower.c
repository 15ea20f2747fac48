#include "follower.h"

#include "protocol/writer.h"
#include "server/base/plain_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

enum {
	BLOCK = 256 * 1024,     /* written at once */
	TURN = 8 * 1024 * 1024, /* most bytes of one request, so that others have their turn */
	GAP_ROOM = 32,
	RECORD_PARTS = 16, /* a record has at least as many segments */
	OVERWRITTEN = -1,  /* beside errno's values */
};

struct follower {
	int directory, segment; /* segment: the newest one, open for writing, or -1 */
	struct journal *journal;
	uint64_t limit, segment_bytes;
	uint64_t seq; /* the next event */
	struct segments segments;
};

static struct segment *newest(struct follower *follower)
{
	return follower->segments.count > 0 ? &follower->segments.rows[follower->segments.count - 1] : NULL;
}

static int open_segment(struct follower *follower, uint64_t first, int flags)
{
	char name[SEGMENT_NAME_BYTES];
	segment_name(first, name);
	follower->segment = plain_file_open(follower->directory, name, O_WRONLY | flags, 0600);
	return follower->segment < 0 ? errno : 0;
}

/* What stands behind the last whole frame was being written when a worker died. */
static int resume(struct follower *follower, struct error *err)
{
	follower->seq = 1;
	if (segments_list(&follower->segments, follower->directory, err) < 0)
		return -1;
	struct segment *last = newest(follower);
	uint64_t bytes;
	if (!last)
		return 0;
	if (segment_measure(follower->directory, last, &bytes, &follower->seq, err) < 0)
		return -1;
	int failed = open_segment(follower, last->first, 0);
	if (failed == 0 && ftruncate(follower->segment, (off_t)bytes) < 0)
		failed = errno;
	follower->segments.bytes -= last->bytes - bytes;
	last->bytes = bytes;
	return failed ? error_set(err, failed, "go on with a record") : 0;
}

static uint64_t segment_bytes_of(uint64_t limit)
{
	uint64_t bytes = limit / RECORD_PARTS;
	if (bytes < SEGMENT_LEAST)
		return SEGMENT_LEAST;
	return bytes > SEGMENT_BYTES ? SEGMENT_BYTES : bytes;
}

struct follower *follower_open(int directory, int journal, uint64_t limit, struct error *err)
{
	struct follower *follower = calloc(1, sizeof *follower);
	if (!follower)
		abort();
	follower->directory = directory;
	follower->segment = -1;
	follower->limit = limit;
	follower->segment_bytes = segment_bytes_of(limit);
	follower->journal = journal_follow(journal, err);
	if (follower->journal && flock(directory, LOCK_EX) == 0 && resume(follower, err) == 0)
		return follower;
	follower_close(follower);
	return NULL;
}

void follower_close(struct follower *follower)
{
	if (!follower)
		return;
	if (follower->segment >= 0)
		close(follower->segment);
	close(follower->directory);
	journal_destroy(follower->journal);
	segments_finish(&follower->segments);
	free(follower);
}

static int begin_segment(struct follower *follower)
{
	struct segment *last = newest(follower);
	if (follower->segment >= 0 && last->bytes < follower->segment_bytes)
		return 0;
	if (follower->segment >= 0)
		close(follower->segment);
	int failed = open_segment(follower, follower->seq, O_CREAT);
	if (failed)
		return failed;
	struct segments *segments = &follower->segments;
	segments->rows = realloc(segments->rows, (segments->count + 1) * sizeof *segments->rows);
	if (!segments->rows)
		abort();
	segments->rows[segments->count++] = (struct segment){.first = follower->seq};
	return 0;
}

static void drop_oldest(struct follower *follower)
{
	struct segments *segments = &follower->segments;
	char name[SEGMENT_NAME_BYTES];
	segment_name(segments->rows[0].first, name);
	unlinkat(follower->directory, name, 0);
	segments->bytes -= segments->rows[0].bytes;
	memmove(segments->rows, segments->rows + 1, --segments->count * sizeof *segments->rows);
}

/* 0, or why not all of it was written: a disk that is full takes the first part of a write. */
static int write_at(int fd, const uint8_t *bytes, size_t length, uint64_t at)
{
	while (length > 0) {
		ssize_t wrote = pwrite(fd, bytes, length, (off_t)at);
		if (wrote < 0 && errno == EINTR)
			continue;
		if (wrote <= 0)
			return wrote < 0 ? errno : ENOSPC;
		bytes += wrote;
		length -= (size_t)wrote;
		at += (uint64_t)wrote;
	}
	return 0;
}

/* GAP follower->seq ... SEQ - 1; returns its bytes. */
static size_t put_gap(const struct follower *follower, uint64_t seq, uint8_t head[GAP_ROOM])
{
	struct writer gap;
	writer_init(&gap, GAP_ROOM);
	writer_array(&gap, 3);
	writer_uint(&gap, FRAME_GAP);
	writer_uint(&gap, follower->seq);
	writer_uint(&gap, seq - 1);
	size_t length = gap.length;
	memcpy(head, gap.data, length);
	writer_finish(&gap);
	return length;
}

/* Whole frames from event SEQ on, behind a GAP if there is one, straight out of the journal, where they stand at POSITION and
 * may be overwritten meanwhile: the GAP, or else their first byte, is written last, when it is known that they were not.
 * Without it what stands there is no frame, and the next writer cuts it off, should this one die before. All of it or
 * nothing. Returns 0, what failed, or OVERWRITTEN. */
static int write_frames(struct follower *follower, uint64_t seq, const uint8_t *frames, size_t length,
                        uint64_t position)
{
	int failed = begin_segment(follower);
	if (failed)
		return failed;
	struct segment *last = newest(follower);
	uint8_t head[GAP_ROOM] = {frames[0]};
	size_t of_frames = seq > follower->seq ? 0 : 1, head_bytes = of_frames ? 1 : put_gap(follower, seq, head);
	failed = write_at(follower->segment, frames + of_frames, length - of_frames, last->bytes + head_bytes);
	if (failed == 0)
		failed = journal_holds(follower->journal, position) ? write_at(follower->segment, head, head_bytes, last->bytes)
		                                                    : OVERWRITTEN;
	if (failed) {
		(void)!ftruncate(follower->segment, (off_t)last->bytes);
		return failed;
	}
	length += head_bytes - of_frames;
	last->bytes += length;
	follower->segments.bytes += length;
	while (follower->segments.bytes > follower->limit && follower->segments.count > 1)
		drop_oldest(follower);
	return 0;
}

/* How many of the HAVE bytes are whole events from *SEQ on, which comes to stand behind them; at most MOST of them, or one
 * event. */
static size_t count_whole(const uint8_t *at, size_t have, size_t most, uint64_t *seq)
{
	size_t used = 0, length;
	uint64_t next;
	while (used < have && (used == 0 || used < most) &&
	       segment_frame(at + used, have - used, *seq, &length, &next) == SEGMENT_EVENT) {
		used += length;
		*seq = next;
	}
	return used;
}

static size_t segment_room(struct follower *follower)
{
	const struct segment *last = newest(follower);
	return last && last->bytes < follower->segment_bytes ? follower->segment_bytes - last->bytes
	                                                     : follower->segment_bytes;
}

/* One block. Returns false when there is nothing more to do now. */
static bool record_block(struct follower *follower, uint64_t seq, struct recorder_report *report)
{
	size_t have;
	const uint8_t *frames = journal_peek(follower->journal, report->position, BLOCK, &have);
	uint64_t next = seq;
	size_t used = frames ? count_whole(frames, have, segment_room(follower), &next) : 0;
	if (!frames || !journal_holds(follower->journal, report->position)) {
		report->is_overrun = 1;
		return false;
	}
	if (used == 0) {
		report->errnum = have > 0 ? EILSEQ : 0;
		return false;
	}
	int failed = write_frames(follower, seq, frames, used, report->position);
	report->is_overrun = failed == OVERWRITTEN;
	report->errnum = failed == OVERWRITTEN ? 0 : failed;
	if (failed)
		return false;
	follower->seq = next;
	report->position += used;
	return true;
}

void follower_report(const struct follower *follower, struct recorder_report *report)
{
	report->is_open = 1;
	report->last = follower->seq - 1;
	report->bytes = follower->segments.bytes;
	report->first = follower->segments.bytes > 0 ? follower->segments.rows[0].first : follower->seq;
}

void follower_advance(struct follower *follower, uint64_t seq, uint64_t position, struct recorder_report *report)
{
	report->position = position;
	if (seq < follower->seq) {
		report->is_overrun = 1; /* that is recorded already: the gateway looks for the place anew */
	} else if (record_block(follower, seq, report)) {
		uint64_t begin = position;
		while (report->position - begin < TURN && record_block(follower, follower->seq, report))
			;
	} else {
		report->is_overrun |= seq > follower->seq; /* POSITION is not where the record goes on */
	}
	follower_report(follower, report);
}
