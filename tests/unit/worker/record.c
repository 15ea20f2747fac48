/* A record as the worker writes it and a channel reads it: segments, bounds, gaps, and what a crash leaves behind. */
#include "protocol/check.h"
#include "protocol/frame.h"
#include "protocol/writer.h"
#include "server/session/replay.h"
#include "server/worker/follower.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	FRAME_BYTES = 10000,
	LIMIT = 4 * 1024 * 1024,
	TURN = JOURNAL_RING_LEAST / FRAME_BYTES + 1, /* events that push out all others */
};

/* A session's directory with its journal, and who records it. */
struct desk {
	char folder[40];
	int directory;
	struct journal *journal;
	struct follower *follower;
	struct recorder_report report; /* the last one */
};

static void hire(struct desk *desk, uint64_t limit)
{
	struct error err = {0};
	int directory = openat(desk->directory, ".", O_DIRECTORY | O_RDONLY | O_CLOEXEC);
	desk->follower = follower_open(directory, openat(desk->directory, JOURNAL_NAME, O_RDONLY | O_CLOEXEC), limit, &err);
	cr_assert_not_null(desk->follower, "%s", err.message);
	desk->report = (struct recorder_report){0};
	follower_report(desk->follower, &desk->report);
}

static void dismiss(struct desk *desk)
{
	follower_close(desk->follower);
	desk->follower = NULL;
}

static void desk_open(struct desk *desk, uint64_t limit)
{
	struct error err = {0};
	*desk = (struct desk){.folder = "/tmp/sandbar-record-XXXXXX"};
	cr_assert_not_null(mkdtemp(desk->folder));
	desk->directory = open(desk->folder, O_DIRECTORY | O_RDONLY | O_CLOEXEC);
	desk->journal = journal_create(desk->directory, JOURNAL_NAME, 0, &err);
	cr_assert_not_null(desk->journal, "%s", err.message);
	hire(desk, limit);
}

static void desk_close(struct desk *desk)
{
	dismiss(desk);
	journal_destroy(desk->journal);
	DIR *folder = opendir(desk->folder);
	const struct dirent *entry;
	while ((entry = readdir(folder)))
		unlinkat(desk->directory, entry->d_name, 0);
	closedir(folder);
	close(desk->directory);
	cr_assert_eq(rmdir(desk->folder), 0);
}

/* Append COUNT events, each of FRAME_BYTES, which hold their own seq again and again. */
static void append(struct desk *desk, unsigned count)
{
	static uint8_t frame[FRAME_BYTES];
	while (count-- > 0) {
		uint64_t seq = journal_last_seq(desk->journal) + 1;
		const struct output_header output = {
			.seq = seq, .process = 1, .stream = STREAM_STDOUT, .length = FRAME_BYTES - OUTPUT_HEADER_BYTES};
		memset(frame, (int)(seq % 251), sizeof frame);
		output_header_write(frame, &output);
		journal_append(desk->journal, frame, sizeof frame);
	}
}

ssize_t __real_pwrite(int fd, const void *bytes, size_t length, off_t at);
ssize_t __wrap_pwrite(int fd, const void *bytes, size_t length, off_t at);

static struct desk *overwrites; /* the gateway goes on while its worker writes: once */

/* The linker puts it in the place of pwrite(). */
ssize_t __wrap_pwrite(int fd, const void *bytes, size_t length, off_t at)
{
	struct desk *desk = overwrites;
	overwrites = NULL;
	if (desk)
		append(desk, TURN);
	return __real_pwrite(fd, bytes, length, at);
}

/* Record all there is, as the gateway would ask for it. */
static void record(struct desk *desk)
{
	uint64_t seq = desk->report.last + 1, first = journal_first_seq(desk->journal);
	seq = seq < first ? first : seq;
	desk->report = (struct recorder_report){0};
	follower_advance(desk->follower, seq, journal_find(desk->journal, seq), &desk->report);
	cr_assert_eq(desk->report.errnum, 0, "%s", strerror(desk->report.errnum));
	cr_assert_eq(desk->report.last, journal_last_seq(desk->journal));
	cr_assert_eq(desk->report.position, journal_tail(desk->journal));
}

static bool is_filled(const uint8_t *bytes, size_t length, uint8_t value)
{
	return length > 0 && bytes[0] == value && memcmp(bytes, bytes + 1, length - 1) == 0;
}

static unsigned events, missing;

/* Read the record from AFTER on: each event must be whole; counts them, and what is missing. */
static void read_back(const struct desk *desk, uint64_t after)
{
	struct error err = {0};
	struct replay *replay = replay_open(desk->directory, after + 1, &err);
	cr_assert_not_null(replay, "%s", err.message);
	const uint8_t *frame;
	size_t length;
	uint64_t next, seq = after + 1;
	enum replay_found found;
	events = missing = 0;
	while ((found = replay_look(replay, desk->report.last, &frame, &length, &next)) != REPLAY_END) {
		cr_assert_eq(replay_seq(replay), seq);
		struct output_header output;
		if (found == REPLAY_EVENT) {
			cr_assert(output_header_read(frame, length, &output) && output.seq == seq && next == seq + 1);
			cr_assert(is_filled(frame + OUTPUT_HEADER_BYTES, length - OUTPUT_HEADER_BYTES, (uint8_t)(seq % 251)));
		}
		cr_assert_gt(next, seq);
		events += found == REPLAY_EVENT;
		missing += found == REPLAY_MISSING ? (unsigned)(next - seq) : 0;
		seq = next;
		replay_step(replay);
	}
	cr_assert_eq(seq, desk->report.last + 1);
	replay_close(replay);
}

static struct segments segments_of(const struct desk *desk)
{
	struct segments segments;
	cr_assert_eq(segments_list(&segments, desk->directory, NULL), 0);
	return segments;
}

static void damage_newest(const struct desk *desk, off_t cut, const char *more)
{
	struct segments segments = segments_of(desk);
	char name[SEGMENT_NAME_BYTES];
	const struct segment *newest = &segments.rows[segments.count - 1];
	segment_name(newest->first, name);
	int fd = openat(desk->directory, name, O_WRONLY | O_CLOEXEC);
	cr_assert_eq(ftruncate(fd, (off_t)newest->bytes - cut), 0);
	cr_assert_geq(pwrite(fd, more, strlen(more), (off_t)newest->bytes - cut), 0);
	close(fd);
	segments_finish(&segments);
}

Test(record, is_read_from_any_event_on)
{
	struct desk desk;
	desk_open(&desk, LIMIT);
	for (int i = 0; i < 10; i++) {
		append(&desk, 30);
		record(&desk);
	}
	cr_assert_gt(journal_first_seq(desk.journal), 200, "the ring has turned");
	for (uint64_t after = 0; after <= 300; after += 23) {
		read_back(&desk, after);
		cr_expect(events == 300 - after && missing == 0, "after %llu: %u events", (unsigned long long)after, events);
	}
	struct segments segments = segments_of(&desk);
	cr_expect_geq(segments.count, 10, "a 16th of the limit each");
	cr_expect_eq(segments.bytes, 300 * FRAME_BYTES);
	segments_finish(&segments);
	desk_close(&desk);
}

Test(record, never_has_more_than_its_limit)
{
	struct desk desk;
	desk_open(&desk, LIMIT);
	for (int i = 0; i < 50; i++) {
		append(&desk, 30);
		record(&desk);
		struct segments segments = segments_of(&desk);
		cr_assert_leq(segments.bytes, LIMIT);
		cr_assert_eq(segments.bytes, desk.report.bytes);
		cr_assert_eq(segments.rows[0].first, desk.report.first);
		segments_finish(&segments);
	}
	read_back(&desk, 0);
	cr_expect(missing == desk.report.first - 1 && events == 1500 - missing, "the oldest are gone, and that is told");
	cr_expect_gt(events * FRAME_BYTES, LIMIT / 16 * 14);
	desk_close(&desk);
}

Test(record, tells_what_the_ring_lost_before_it_was_recorded)
{
	struct desk desk;
	desk_open(&desk, LIMIT);
	append(&desk, 10);
	record(&desk);
	uint64_t position = desk.report.position;
	append(&desk, 200);
	desk.report = (struct recorder_report){0};
	follower_advance(desk.follower, 11, position, &desk.report);
	cr_assert(desk.report.is_overrun && desk.report.last == 10, "what stood there is overwritten");
	record(&desk);
	append(&desk, 1);
	record(&desk);
	read_back(&desk, 0);
	cr_expect(missing == journal_first_seq(desk.journal) - 11 || missing > 100, "%u", missing);
	cr_expect_eq(events + missing, 211);
	read_back(&desk, 50);
	cr_expect_eq(events + missing, 161, "also from the middle of the gap");
	desk_close(&desk);
}

Test(record, goes_on_where_a_worker_died)
{
	static const struct {
		off_t cut;
		const char *more;
		unsigned lost;
	} ends[] = {{0, "", 0},    {1, "", 1}, {FRAME_BYTES - 3, "", 1}, {FRAME_BYTES, "", 1}, {0, "\x97\x01\xcf", 0},
	            {0, "junk", 0}};
	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
		struct desk desk;
		desk_open(&desk, LIMIT);
		append(&desk, 40);
		record(&desk);
		dismiss(&desk);
		damage_newest(&desk, ends[i].cut, ends[i].more);
		hire(&desk, LIMIT);
		cr_expect_eq(desk.report.last, 40 - ends[i].lost, "case %zu: %llu", i, (unsigned long long)desk.report.last);
		append(&desk, 5);
		record(&desk);
		read_back(&desk, 0);
		cr_expect(events == 45 && missing == 0, "case %zu: %u events, %u missing", i, events, missing);
		desk_close(&desk);
	}
}

Test(record, a_segment_that_is_damaged_or_gone_is_a_gap_and_nothing_more)
{
	struct desk desk;
	desk_open(&desk, LIMIT);
	for (int i = 0; i < 10; i++) {
		append(&desk, 30);
		record(&desk);
	}
	struct segments segments = segments_of(&desk);
	char name[SEGMENT_NAME_BYTES];
	segment_name(segments.rows[3].first, name);
	cr_assert_eq(unlinkat(desk.directory, name, 0), 0);
	segment_name(segments.rows[5].first, name);
	int fd = openat(desk.directory, name, O_WRONLY | O_CLOEXEC);
	cr_assert_eq(pwrite(fd, "\xc1\xc1\xc1\xc1", 4, 2 * FRAME_BYTES), 4);
	close(fd);
	segment_name(segments.rows[7].first, name);
	fd = openat(desk.directory, name, O_WRONLY | O_CLOEXEC);
	cr_assert_eq(ftruncate(fd, 0), 0);
	close(fd);
	uint64_t lost = segments.rows[4].first - segments.rows[3].first + segments.rows[6].first - segments.rows[5].first -
	                2 + segments.rows[8].first - segments.rows[7].first;
	segments_finish(&segments);
	read_back(&desk, 0);
	cr_expect(missing == lost && events == 300 - lost, "%u missing, not %llu", missing, (unsigned long long)lost);
	desk_close(&desk);
}

/* One byte of an event, each in turn, becomes something else: what is read has an event's form, or is missing. */
Test(record, no_damaged_byte_reaches_a_client)
{
	struct desk desk;
	desk_open(&desk, LIMIT);
	static const uint8_t ended[] = {0x94, FRAME_ENDED, 1, 0, 0xa5, 'e', 'n', 'd', 'e', 'd'};
	journal_append(desk.journal, ended, sizeof ended);
	append(&desk, 1);
	record(&desk);
	struct segments segments = segments_of(&desk);
	char name[SEGMENT_NAME_BYTES];
	segment_name(segments.rows[0].first, name);
	segments_finish(&segments);
	int fd = openat(desk.directory, name, O_RDWR | O_CLOEXEC);
	for (size_t i = 0; i < 8 * (sizeof ended + OUTPUT_HEADER_BYTES); i++) {
		uint8_t byte, other;
		cr_assert_eq(pread(fd, &byte, 1, (off_t)(i / 8)), 1);
		other = byte ^ (uint8_t)(1 << i % 8);
		cr_assert_eq(pwrite(fd, &other, 1, (off_t)(i / 8)), 1);
		struct replay *replay = replay_open(desk.directory, 1, NULL);
		const uint8_t *frame;
		size_t length;
		uint64_t next;
		enum replay_found found;
		while ((found = replay_look(replay, 2, &frame, &length, &next)) != REPLAY_END) {
			struct check_report report;
			cr_expect(found == REPLAY_MISSING || (check_message(frame, length, &report) && report.values == 1), "%zu",
			          i);
			cr_expect(found == REPLAY_EVENT || replay_is_damaged(replay), "%zu", i);
			replay_step(replay);
		}
		replay_close(replay);
		cr_assert_eq(pwrite(fd, &byte, 1, (off_t)(i / 8)), 1);
	}
	close(fd);
	desk_close(&desk);
}

Test(record, another_place_than_the_next_is_not_recorded)
{
	struct desk desk;
	desk_open(&desk, LIMIT);
	append(&desk, 10);
	record(&desk);
	struct recorder_report report = {0};
	follower_advance(desk.follower, 5, journal_find(desk.journal, 5), &report);
	cr_expect(report.is_overrun && report.last == 10, "it is recorded already");
	report = (struct recorder_report){0};
	append(&desk, 2);
	follower_advance(desk.follower, 11, journal_find(desk.journal, 12), &report);
	cr_expect(report.errnum != 0 && report.last == 10, "event 12 does not stand for 11");
	report = (struct recorder_report){0};
	follower_advance(desk.follower, 13, journal_tail(desk.journal) + 4096, &report);
	cr_expect(report.is_overrun && report.last == 10, "nothing stands behind the tail");
	desk_close(&desk);
}

/* What a block had brought when its writer died, or when it was seen to be overwritten: all but its first byte. */
Test(record, a_block_without_its_first_byte_is_none)
{
	struct desk desk;
	desk_open(&desk, LIMIT);
	for (int i = 0; i < 2; i++) {
		append(&desk, 5);
		record(&desk);
	}
	dismiss(&desk);
	struct segments segments = segments_of(&desk);
	cr_assert_eq(segments.count, 1);
	char name[SEGMENT_NAME_BYTES];
	segment_name(segments.rows[0].first, name);
	segments_finish(&segments);
	int fd = openat(desk.directory, name, O_WRONLY | O_CLOEXEC);
	cr_assert_eq(pwrite(fd, "", 1, 5 * FRAME_BYTES), 1);
	close(fd);
	hire(&desk, LIMIT);
	cr_expect_eq(desk.report.last, 5);
	record(&desk);
	read_back(&desk, 0);
	cr_expect(events == 10 && missing == 0, "%u events, %u missing", events, missing);
	desk_close(&desk);
}

/* The ring turns while a block is written: what is written then is not what was asked for, and is not recorded. */
Test(record, what_is_overwritten_while_it_is_recorded_is_a_gap)
{
	struct desk desk;
	desk_open(&desk, LIMIT);
	append(&desk, 10);
	record(&desk);
	append(&desk, 30);
	overwrites = &desk;
	uint64_t position = desk.report.position;
	desk.report = (struct recorder_report){0};
	follower_advance(desk.follower, 11, position, &desk.report);
	cr_assert_null(overwrites);
	cr_assert(desk.report.is_overrun && desk.report.errnum == 0 && desk.report.last == 10);
	record(&desk);
	read_back(&desk, 0);
	cr_expect(missing > 30 && events + missing == 40 + TURN, "%u events, %u missing", events, missing);
	desk_close(&desk);
}
