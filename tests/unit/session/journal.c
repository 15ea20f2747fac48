/* The ring that everything is read from: no byte lost, doubled or moved, however often it wraps. */
#include "server/session/journal.h"
#include "protocol/frame.h"
#include "protocol/writer.h"
#include "tests/unit/protocol/random.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { RING = JOURNAL_RING_LEAST, EVENTS = 6000 };

/* A journal whose file has no name any more, so that nothing of a test is left, however it ends. */
static struct journal *make(uint64_t ring)
{
	char path[] = "/tmp/sandbar-journal-XXXXXX";
	cr_assert_not_null(mkdtemp(path));
	int folder = open(path, O_DIRECTORY | O_RDONLY | O_CLOEXEC);
	struct error err = {0};
	struct journal *journal = journal_create(folder, "journal", ring, &err);
	unlinkat(folder, "journal", 0);
	rmdir(path);
	close(folder);
	cr_assert_not_null(journal, "%s", err.message);
	return journal;
}

/* What was appended, as the test remembers it. */
struct known {
	uint64_t position, sum;
	size_t length;
};

static uint64_t sum_of(const uint8_t *bytes, size_t length)
{
	uint64_t sum = UINT64_C(0xcbf29ce484222325); /* FNV-1a */
	for (size_t i = 0; i < length; i++)
		sum = (sum ^ bytes[i]) * UINT64_C(0x100000001b3);
	return sum;
}

/* An event of a random kind and size: most are small, some as large as an event may be. */
static void make_event(struct random *random, struct writer *writer, uint64_t seq)
{
	static uint8_t filling[JOURNAL_EVENT];
	uint32_t size = random_below(random, 8) == 0 ? random_below(random, JOURNAL_EVENT - 32) : random_below(random, 300);
	for (uint32_t i = 0; i < size; i++)
		filling[i] = (uint8_t)random_next(random);
	writer_reset(writer);
	writer_array(writer, 4);
	writer_uint(writer, FRAME_STARTED);
	writer_uint(writer, seq);
	writer_uint(writer, random_below(random, 1000000));
	writer_bin(writer, filling, size);
	cr_assert_not(writer->failed);
}

static struct known append_event(struct journal *journal, struct random *random, struct writer *writer)
{
	struct known known = {.position = journal_tail(journal)};
	make_event(random, writer, journal_last_seq(journal) + 1);
	journal_append(journal, writer->data, writer->length);
	known.length = writer->length;
	known.sum = sum_of(writer->data, writer->length);
	return known;
}

static struct known append_output(struct journal *journal, struct random *random, const int pipe_fds[2])
{
	static uint8_t bytes[JOURNAL_READ];
	static uint64_t offset;
	struct known known = {.position = journal_tail(journal)};
	uint32_t size = 1 + random_below(random, random_below(random, 4) == 0 ? JOURNAL_READ : 2000);
	for (uint32_t i = 0; i < size; i++)
		bytes[i] = (uint8_t)random_next(random);
	cr_assert_eq(write(pipe_fds[1], bytes, size), (ssize_t)size);
	const struct journal_source source = {pipe_fds[0], 7, STREAM_STDERR, offset};
	enum journal_read_end end;
	cr_assert_eq(journal_read_output(journal, &source, JOURNAL_READ, &end), size);
	cr_assert_eq(end, size == JOURNAL_READ ? JOURNAL_READ_MORE : JOURNAL_READ_BLOCKED);
	const uint8_t *frame = journal_frame(journal, known.position, &known.length);
	struct output_header header;
	cr_assert(output_header_read(frame, known.length, &header));
	cr_assert_eq(known.length, OUTPUT_HEADER_BYTES + size);
	cr_assert(header.seq == journal_last_seq(journal) && header.process == 7 && header.stream == STREAM_STDERR);
	cr_assert(header.offset == offset && header.length == size);
	cr_assert_eq(memcmp(frame + OUTPUT_HEADER_BYTES, bytes, size), 0);
	offset += size;
	known.sum = sum_of(frame, known.length);
	return known;
}

/* Walk from head to tail, and compare with what is remembered; KNOWN[seq]. */
static void expect_whole(const struct journal *journal, const struct known *known)
{
	uint64_t seq = journal_first_seq(journal), position = journal_head(journal);
	while (position < journal_tail(journal)) {
		size_t length;
		const uint8_t *frame = journal_frame(journal, position, &length);
		uint32_t kind;
		uint64_t told, t_us;
		cr_assert(event_head_read(frame, length, &kind, &told, &t_us), "at %llu", (unsigned long long)position);
		cr_assert(told == seq && position == known[seq].position && length == known[seq].length);
		cr_assert_eq(sum_of(frame, length), known[seq].sum, "event %llu", (unsigned long long)seq);
		position += length;
		seq++;
	}
	cr_assert_eq(position, journal_tail(journal));
	cr_assert_eq(seq, journal_last_seq(journal) + 1);
}

static void expect_bounds(const struct journal *journal, const struct known *known)
{
	uint64_t first = journal_first_seq(journal), last = journal_last_seq(journal);
	cr_assert(first >= 1 && first <= last + 1);
	cr_assert_eq(journal_head(journal), known[first].position, "the head is not the beginning of a frame");
	cr_assert_eq(journal_tail(journal), known[last].position + known[last].length);
	uint64_t held = journal_tail(journal) - journal_head(journal);
	cr_assert_leq(held, journal_ring(journal));
	/* What is given up at once is a stride, the frame that it ends in, and the room that was asked for. */
	if (first > 1)
		cr_assert_geq(held + JOURNAL_STRIDE + JOURNAL_EVENT + JOURNAL_READ + OUTPUT_HEADER_BYTES,
		              journal_ring(journal));
}

static void expect_found(const struct journal *journal, const struct known *known, struct random *random)
{
	uint64_t first = journal_first_seq(journal), last = journal_last_seq(journal);
	cr_assert_eq(journal_find(journal, first), journal_head(journal));
	cr_assert_eq(journal_find(journal, last + 1), journal_tail(journal));
	for (int i = 0; i < 3; i++) {
		uint64_t seq = first + random_next(random) % (last + 1 - first);
		cr_assert_eq(journal_find(journal, seq), known[seq].position, "event %llu", (unsigned long long)seq);
	}
}

static void expect_recent(const struct journal *journal, const struct known *known, struct random *random)
{
	uint64_t bytes = random_next(random) % (2 * journal_ring(journal)), seq;
	uint64_t position = journal_recent(journal, bytes, &seq), tail = journal_tail(journal);
	cr_assert(seq >= journal_first_seq(journal) && seq <= journal_last_seq(journal) + 1);
	cr_assert_leq(tail - position, bytes);
	cr_assert_eq(position, seq > journal_last_seq(journal) ? tail : known[seq].position);
	uint64_t held = tail - journal_head(journal), most = bytes < held ? bytes : held;
	cr_assert_geq(tail - position + JOURNAL_STRIDE + JOURNAL_EVENT, most, "much less than was asked for");
}

Test(journal, thousands_of_events_stand_as_they_were_appended)
{
	struct journal *journal = make(RING);
	struct random random = {.state = 20261129};
	struct known *known = calloc(EVENTS + 2, sizeof *known);
	struct writer writer;
	writer_init(&writer, JOURNAL_EVENT);
	int pipe_fds[2];
	cr_assert_eq(pipe2(pipe_fds, O_NONBLOCK | O_CLOEXEC), 0);
	cr_assert_eq(journal_first_seq(journal), 1);
	cr_assert_eq(journal_find(journal, 1), 0);
	for (uint64_t seq = 1; seq <= EVENTS; seq++) {
		bool is_output = random_below(&random, 2) == 0;
		known[seq] = is_output ? append_output(journal, &random, pipe_fds) : append_event(journal, &random, &writer);
		cr_assert_eq(journal_last_seq(journal), seq);
		known[seq + 1].position = journal_tail(journal);
		expect_bounds(journal, known);
		expect_found(journal, known, &random);
		expect_recent(journal, known, &random);
		if (seq % 97 == 0)
			expect_whole(journal, known);
	}
	expect_whole(journal, known);
	cr_assert_gt(journal_tail(journal), 20 * (uint64_t)RING, "the ring wrapped often");
	journal_destroy(journal);
	writer_finish(&writer);
	free(known);
}

/* A frame that crosses the ring's end is one run of bytes all the same, and what is behind the ring is its beginning. */
Test(journal, a_frame_over_the_wrap_is_contiguous)
{
	struct journal *journal = make(RING);
	struct writer writer;
	writer_init(&writer, JOURNAL_EVENT);
	struct random random = {.state = 4};
	unsigned wraps = 0;
	while (wraps < 50) {
		uint64_t at = journal_tail(journal);
		make_event(&random, &writer, journal_last_seq(journal) + 1);
		journal_append(journal, writer.data, writer.length);
		size_t length;
		const uint8_t *frame = journal_frame(journal, at, &length);
		cr_assert(length == writer.length && memcmp(frame, writer.data, length) == 0);
		wraps += at / RING != (at + length - 1) / RING;
	}
	writer_finish(&writer);
	journal_destroy(journal);
}

Test(journal, an_empty_one_has_nothing)
{
	struct journal *journal = make(1);
	cr_expect_eq(journal_ring(journal), RING, "the least");
	cr_expect(journal_first_seq(journal) == 1 && journal_last_seq(journal) == 0);
	cr_expect(journal_head(journal) == 0 && journal_tail(journal) == 0);
	uint64_t seq = 0;
	cr_expect(journal_recent(journal, 1000, &seq) == 0 && seq == 1);
	journal_destroy(journal);
	journal = make(RING + 1);
	cr_expect_eq(journal_ring(journal), RING + 4096, "whole pages");
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	uint64_t age_us = (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000 - journal_created_us(journal);
	cr_expect_lt(age_us, 60 * UINT64_C(1000000));
	cr_expect_leq(journal_now_us(journal), age_us + 1000000);
	journal_destroy(journal);
	journal_destroy(NULL);
}

/* --- the input offsets in the header page --- */

static void name_client(uint8_t client[CLIENT_ID_BYTES], unsigned number)
{
	memset(client, 0, CLIENT_ID_BYTES);
	client[CLIENT_ID_BYTES - 1] = (uint8_t)number;
}

Test(journal, sixty_four_input_offsets_and_not_one_more)
{
	struct journal *journal = make(RING);
	uint8_t client[CLIENT_ID_BYTES];
	struct journal_stdin_slot *slots[JOURNAL_STDIN_SLOTS];
	for (unsigned i = 0; i < JOURNAL_STDIN_SLOTS; i++) {
		name_client(client, i / 2);
		cr_assert_null(journal_stdin(journal, client, 1 + i % 2, false));
		slots[i] = journal_stdin(journal, client, 1 + i % 2, true);
		cr_assert_not_null(slots[i]);
		cr_assert(slots[i]->accepted == 0 && slots[i]->intent == 0);
		slots[i]->accepted = 1000 + i;
		cr_assert_eq(*journal_stdin_end(journal, slots[i]), 0);
		*journal_stdin_end(journal, slots[i]) = 1001 + i;
	}
	name_client(client, 99);
	cr_expect_null(journal_stdin(journal, client, 1, true), "one too many");
	for (unsigned i = 0; i < JOURNAL_STDIN_SLOTS; i++) {
		name_client(client, i / 2);
		cr_expect_eq(journal_stdin(journal, client, 1 + i % 2, i % 3 == 0), slots[i]);
		cr_expect(slots[i]->accepted == 1000 + i && *journal_stdin_end(journal, slots[i]) == 1001 + i);
	}
	journal_stdin_forget(journal, 2);
	for (unsigned i = 0; i < JOURNAL_STDIN_SLOTS / 2; i++) {
		name_client(client, i);
		cr_expect_null(journal_stdin(journal, client, 2, false));
		cr_expect_eq(journal_stdin(journal, client, 1, false)->accepted, 1000 + 2 * i,
		             "the other process keeps its own");
		const struct journal_stdin_slot *again = journal_stdin(journal, client, 3, true);
		cr_assert_not_null(again, "a forgotten slot is used again");
		cr_expect(again->accepted == 0 && *journal_stdin_end(journal, again) == 0, "and does not remember");
	}
	name_client(client, 99);
	cr_expect_null(journal_stdin(journal, client, 4, true));
	journal_destroy(journal);
}

/* A machine is started again: its monotonic clock is behind what it was, and the session's is not. */
Test(journal, time_goes_on_after_the_machine_was_started_again)
{
	enum { AT_CREATED = 16, AT_STARTED = 24 }; /* in the file */
	static const struct {
		uint64_t hours; /* since the session was made, by the time of day */
		uint64_t newest_us;
	} cases[] = {{0, 7000000}, {1, 7000000}, {2, 1}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char path[] = "/tmp/sandbar-journal-XXXXXX";
		cr_assert_not_null(mkdtemp(path));
		int folder = open(path, O_DIRECTORY | O_RDONLY | O_CLOEXEC);
		struct error err = {0};
		struct journal *journal = journal_create(folder, "journal", RING, &err);
		struct writer event;
		writer_init(&event, 64);
		writer_array(&event, 4);
		writer_uint(&event, FRAME_ENDED);
		writer_uint(&event, 1);
		writer_uint(&event, cases[i].newest_us);
		writer_str(&event, "ended");
		journal_append(journal, event.data, event.length);
		writer_finish(&event);
		uint64_t created = journal_created_us(journal) - cases[i].hours * 3600 * 1000000, started;
		journal_destroy(journal);
		int fd = openat(folder, "journal", O_RDWR | O_CLOEXEC);
		cr_assert_eq(pread(fd, &started, sizeof started, AT_STARTED), (ssize_t)sizeof started);
		started += UINT64_C(72) * 3600 * 1000000;
		cr_assert_eq(pwrite(fd, &started, sizeof started, AT_STARTED), (ssize_t)sizeof started);
		cr_assert_eq(pwrite(fd, &created, sizeof created, AT_CREATED), (ssize_t)sizeof created);
		close(fd);
		for (int again = 0; again < 2; again++) {
			journal = journal_open(folder, "journal", &err);
			cr_assert_not_null(journal, "%s", err.message);
			uint64_t now = journal_now_us(journal), hours = now / 1000000 / 3600;
			cr_expect(now >= cases[i].newest_us && hours == cases[i].hours, "case %zu: %llu", i,
			          (unsigned long long)now);
			journal_destroy(journal);
		}
		unlinkat(folder, "journal", 0);
		rmdir(path);
		close(folder);
	}
}
