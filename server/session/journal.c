#include "journal.h"

#include "protocol/frame.h"
#include "server/base/plain_file.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { PAGE = 4096, CANARY_BYTES = 16, TTY_READ = 4096 /* more than the kernel gives of a pty at once */ };

static const uint8_t magic[8] = {'s', 'a', 'n', 'd', 'b', 'a', 'r', 1};

/* A read in progress, for a later process that finds it: recover_read() says what it concludes. */
struct intent {
	uint64_t position; /* of the OUTPUT header */
	uint64_t offset;   /* of the stream, at the frame's first byte */
	uint32_t process, stream;
	uint64_t progress; /* of the frame: bytes that earlier reads brought << 32 | most bytes that the read under way
	                    * brings (0 = none is); one number, so that no moment counts a read twice */
};

/* The first page of the file. Its form is part of the contract between two gateways. */
struct header {
	uint8_t magic[8];
	uint64_t ring, created_us;
	uint64_t started_us; /* CLOCK_MONOTONIC; modulo 2^64, if the machine was started since */
	uint64_t head, tail, first_seq, last_seq;
	uint64_t index_first, index_count; /* entries [first, first + count) of the index, modulo its rows */
	uint8_t canary[CANARY_BYTES];      /* stands in a read's target until the read overwrites it: guard() */
	struct intent intent;
	struct journal_stdin_slot stdin_slots[JOURNAL_STDIN_SLOTS];
	/* What an earlier version left here is 0, which is what it knew, so that its journals are this one's as well. */
	uint64_t stdin_ends[JOURNAL_STDIN_SLOTS];
};
_Static_assert(sizeof(struct header) <= PAGE, "the header is one page");
_Static_assert(sizeof(struct journal_stdin_slot) == 40, "a slot's form is fixed");

struct index_entry {
	uint64_t seq, position;
};

struct journal {
	struct header *header;
	struct index_entry *index;
	uint8_t *ring_map; /* mapped twice in a row */
	size_t index_bytes;
	uint64_t index_rows;
	uint64_t ring;            /* as it was mapped */
	uint8_t canary[TTY_READ]; /* the same CANARY_BYTES again and again */
};

static uint64_t clock_us(clockid_t clock)
{
	struct timespec now;
	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

static size_t page_round(size_t bytes)
{
	return (bytes + PAGE - 1) / PAGE * PAGE;
}

/* What was never written is not to be read: else the first touch fetches, and clears, as much as the disk's read-ahead
 * allows, which took 1.1 ms of each new session. */
static void read_nothing_ahead(void *map, size_t bytes)
{
	(void)madvise(map, bytes, MADV_RANDOM);
}

/* Map the ring's file range twice in a row, so that a frame that wraps is contiguous in memory. */
static uint8_t *map_twice(int fd, off_t at, size_t ring, int protection)
{
	uint8_t *base = mmap(NULL, 2 * ring, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (base == MAP_FAILED)
		return NULL;
	for (int half = 0; half < 2; half++) {
		void *map = mmap(base + (size_t)half * ring, ring, protection, MAP_SHARED | MAP_FIXED, fd, at);
		if (map == MAP_FAILED) {
			munmap(base, 2 * ring);
			return NULL;
		}
	}
	read_nothing_ahead(base, 2 * ring);
	return base;
}

static int map_file(struct journal *journal, int fd, size_t ring, int protection)
{
	journal->header = mmap(NULL, PAGE + journal->index_bytes, protection, MAP_SHARED, fd, 0);
	if (journal->header == MAP_FAILED)
		return -1;
	read_nothing_ahead(journal->header, PAGE + journal->index_bytes);
	journal->index = (struct index_entry *)(void *)((uint8_t *)journal->header + PAGE);
	journal->ring_map = map_twice(fd, (off_t)(PAGE + journal->index_bytes), ring, protection);
	if (journal->ring_map)
		return 0;
	munmap(journal->header, PAGE + journal->index_bytes);
	return -1;
}

static void repeat_canary(struct journal *journal)
{
	for (size_t i = 0; i < sizeof journal->canary; i++)
		journal->canary[i] = journal->header->canary[i % CANARY_BYTES];
}

/* Map the file of FD, which becomes closed, for a ring of RING bytes. NULL with errno on error. */
static struct journal *map_journal(int fd, uint64_t ring, int protection)
{
	struct journal *journal = calloc(1, sizeof *journal);
	if (!journal)
		abort();
	journal->ring = ring;
	journal->index_rows = ring / JOURNAL_STRIDE + 2;
	journal->index_bytes = page_round(journal->index_rows * sizeof(struct index_entry));
	int failed = map_file(journal, fd, ring, protection) < 0 ? errno : 0;
	close(fd);
	if (failed == 0)
		return journal;
	free(journal);
	errno = failed;
	return NULL;
}

static size_t file_bytes(uint64_t ring)
{
	return PAGE + page_round((ring / JOURNAL_STRIDE + 2) * sizeof(struct index_entry)) + ring;
}

struct journal *journal_create(int directory, const char *name, uint64_t ring, struct error *err)
{
	ring = page_round(ring < JOURNAL_RING_LEAST ? JOURNAL_RING_LEAST : ring);
	int fd = openat(directory, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return error_set(err, errno, "create journal `%s`", name), NULL;
	int failed = posix_fallocate(fd, 0, (off_t)file_bytes(ring));
	if (failed != 0)
		close(fd);
	struct journal *journal = failed == 0 ? map_journal(fd, ring, PROT_READ | PROT_WRITE) : NULL;
	if (!journal) {
		failed = failed ? failed : errno;
		unlinkat(directory, name, 0);
		return error_set(err, failed, "allocate %llu bytes for journal `%s`", (unsigned long long)ring, name), NULL;
	}
	struct header *header = journal->header;
	memcpy(header->magic, magic, sizeof magic);
	header->ring = ring;
	header->first_seq = 1;
	header->created_us = clock_us(CLOCK_REALTIME);
	header->started_us = clock_us(CLOCK_MONOTONIC);
	if (getrandom(header->canary, sizeof header->canary, 0) != sizeof header->canary)
		abort();
	repeat_canary(journal);
	return journal;
}

void journal_destroy(struct journal *journal)
{
	if (!journal)
		return;
	munmap(journal->ring_map, 2 * journal->ring);
	munmap(journal->header, PAGE + journal->index_bytes);
	free(journal);
}

uint64_t journal_first_seq(const struct journal *journal)
{
	return journal->header->first_seq;
}
uint64_t journal_last_seq(const struct journal *journal)
{
	return journal->header->last_seq;
}
uint64_t journal_head(const struct journal *journal)
{
	return journal->header->head;
}
uint64_t journal_tail(const struct journal *journal)
{
	return journal->header->tail;
}
uint64_t journal_ring(const struct journal *journal)
{
	return journal->header->ring;
}
uint64_t journal_created_us(const struct journal *journal)
{
	return journal->header->created_us;
}

uint64_t journal_now_us(const struct journal *journal)
{
	return clock_us(CLOCK_MONOTONIC) - journal->header->started_us;
}

static uint8_t *place(const struct journal *journal, uint64_t position)
{
	return journal->ring_map + position % journal->header->ring;
}

static struct index_entry *index_at(const struct journal *journal, uint64_t number)
{
	return &journal->index[(journal->header->index_first + number) % journal->index_rows];
}

/* Give up whole strides at the head until NEED bytes fit behind the tail. */
static void make_room(struct journal *journal, size_t need)
{
	struct header *header = journal->header;
	while (header->tail + need - header->head > header->ring) {
		assert(header->index_count > 1);
		const struct index_entry *next = index_at(journal, 1);
		header->first_seq = next->seq;
		header->head = next->position;
		header->index_first = (header->index_first + 1) % journal->index_rows;
		header->index_count--;
	}
	/* What is given up is given up before it is overwritten: for who opens the journal after a crash, and for another
	 * process that reads it (journal_holds()). */
	atomic_thread_fence(memory_order_release);
}

/* The frame of LENGTH bytes that stands at the tail becomes part of the journal. */
static void commit(struct journal *journal, size_t length)
{
	struct header *header = journal->header;
	uint64_t seq = header->last_seq + 1;
	if (header->index_count == 0 ||
	    header->tail >= index_at(journal, header->index_count - 1)->position + JOURNAL_STRIDE) {
		*index_at(journal, header->index_count) = (struct index_entry){.seq = seq, .position = header->tail};
		header->index_count++;
	}
	header->last_seq = seq;
	__atomic_store_n(&header->tail, header->tail + length, __ATOMIC_RELEASE);
}

void journal_append(struct journal *journal, const void *frame, size_t length)
{
	assert(length > 0 && length <= JOURNAL_EVENT);
	make_room(journal, length);
	memcpy(place(journal, journal->header->tail), frame, length);
	commit(journal, length);
}

/* How many bytes a read brings at most, and TARGET made ready to show how many it brought. Of a pipe that is exactly
 * what waits in it, and a canary in the last of these bytes is enough. A terminal's FIONREAD would keep its writer out
 * (n_tty_ioctl() takes termios_rwsem for writing, which halves a flood), so there the canary is repeated over the whole
 * target: what was not overwritten was not read. */
static size_t guard(const struct journal *journal, const struct journal_source *source, uint8_t *target, size_t room)
{
	if (source->stream == STREAM_TTY) {
		size_t expected = room < TTY_READ ? room : TTY_READ;
		memcpy(target, journal->canary, expected);
		return expected;
	}
	int waiting = 0;
	if (ioctl(source->fd, FIONREAD, &waiting) < 0 || waiting < 1)
		waiting = 1; /* nothing there, or the end: only a read tells which */
	size_t expected = (size_t)waiting < room ? (size_t)waiting : room;
	size_t guarded = expected < CANARY_BYTES ? expected : CANARY_BYTES;
	memcpy(target + expected - guarded, journal->canary, guarded);
	return expected;
}

/* One read(2) into TARGET, of a frame that has HAVE bytes already, under an intent. Returns what read returned. */
static ssize_t read_with_intent(struct journal *journal, const struct journal_source *source, uint8_t *target,
                                size_t have, size_t room)
{
	size_t expected = guard(journal, source, target, room);
	uint64_t *progress = &journal->header->intent.progress;
	__atomic_store_n(progress, (uint64_t)have << 32 | expected, __ATOMIC_RELEASE);
	ssize_t got = read(source->fd, target, expected);
	__atomic_store_n(progress, (uint64_t)(have + (got > 0 ? (size_t)got : 0)) << 32, __ATOMIC_RELEASE);
	return got;
}

static void write_output_header(struct journal *journal, uint8_t *frame, const struct intent *intent, size_t have)
{
	const struct output_header output = {.seq = journal->header->last_seq + 1,
	                                     .t_us = journal_now_us(journal),
	                                     .offset = intent->offset,
	                                     .process = intent->process,
	                                     .length = (uint32_t)have,
	                                     .stream = (uint8_t)intent->stream};
	output_header_write(frame, &output);
}

size_t journal_read_output(struct journal *journal, const struct journal_source *source, size_t most,
                           enum journal_read_end *end)
{
	assert(most > 0 && most <= JOURNAL_READ);
	make_room(journal, OUTPUT_HEADER_BYTES + most);
	struct header *header = journal->header;
	header->intent = (struct intent){.position = header->tail,
	                                 .offset = source->offset,
	                                 .process = source->process,
	                                 .stream = (uint32_t)source->stream};
	uint8_t *frame = place(journal, header->tail);
	size_t have = 0;
	*end = JOURNAL_READ_MORE;
	while (have < most) {
		ssize_t got = read_with_intent(journal, source, frame + OUTPUT_HEADER_BYTES + have, have, most - have);
		if (got > 0) {
			have += (size_t)got;
			continue;
		}
		if (got < 0 && errno == EINTR)
			continue;
		*end = got < 0 && errno == EAGAIN ? JOURNAL_READ_BLOCKED : JOURNAL_READ_ENDED;
		break;
	}
	if (have > 0) {
		write_output_header(journal, frame, &header->intent, have);
		commit(journal, OUTPUT_HEADER_BYTES + have);
	}
	__atomic_store_n(&header->intent.progress, 0, __ATOMIC_RELEASE);
	return have;
}

const uint8_t *journal_frame(const struct journal *journal, uint64_t position, size_t *length)
{
	const struct header *header = journal->header;
	assert(position >= header->head && position < header->tail);
	const uint8_t *frame = place(journal, position);
	size_t most = header->tail - position;
	struct output_header output;
	if (output_header_read(frame, most, &output)) {
		*length = OUTPUT_HEADER_BYTES + output.length;
		return frame;
	}
	struct reader reader = reader_over(frame, most);
	reader_skip(&reader);
	*length = (size_t)(reader.at - frame);
	return frame;
}

uint64_t journal_find(const struct journal *journal, uint64_t seq)
{
	const struct header *header = journal->header;
	assert(seq >= header->first_seq && seq <= header->last_seq + 1);
	if (seq == header->last_seq + 1)
		return header->tail;
	uint64_t low = 0, high = header->index_count; /* the last entry whose seq <= SEQ is in [low, high) */
	while (high - low > 1) {
		uint64_t middle = low + (high - low) / 2;
		if (index_at(journal, middle)->seq <= seq)
			low = middle;
		else
			high = middle;
	}
	uint64_t at = index_at(journal, low)->seq, position = index_at(journal, low)->position;
	for (; at < seq; at++) {
		size_t length;
		journal_frame(journal, position, &length);
		position += length;
	}
	return position;
}

uint64_t journal_recent(const struct journal *journal, uint64_t bytes, uint64_t *seq)
{
	const struct header *header = journal->header;
	for (uint64_t i = 0; i < header->index_count; i++) {
		const struct index_entry *entry = index_at(journal, i);
		if (entry->position + bytes < header->tail)
			continue;
		*seq = entry->seq;
		return entry->position;
	}
	*seq = header->last_seq + 1;
	return header->tail;
}

struct journal_stdin_slot *journal_stdin(struct journal *journal, const uint8_t client[CLIENT_ID_BYTES],
                                         uint32_t process, bool make)
{
	struct journal_stdin_slot *slots = journal->header->stdin_slots, *free_slot = NULL;
	for (size_t i = 0; i < JOURNAL_STDIN_SLOTS; i++) {
		if (slots[i].process == process && memcmp(slots[i].client, client, CLIENT_ID_BYTES) == 0)
			return &slots[i];
		if (slots[i].process == 0 && !free_slot)
			free_slot = &slots[i];
	}
	if (!make || !free_slot)
		return NULL;
	*free_slot = (struct journal_stdin_slot){.process = process};
	*journal_stdin_end(journal, free_slot) = 0;
	memcpy(free_slot->client, client, CLIENT_ID_BYTES);
	return free_slot;
}

uint64_t *journal_stdin_end(struct journal *journal, const struct journal_stdin_slot *slot)
{
	return &journal->header->stdin_ends[slot - journal->header->stdin_slots];
}

struct journal_stdin_slot *journal_stdin_row(struct journal *journal, size_t i)
{
	return &journal->header->stdin_slots[i];
}

void journal_stdin_forget(struct journal *journal, uint32_t process)
{
	struct journal_stdin_slot *slots = journal->header->stdin_slots;
	for (size_t i = 0; i < JOURNAL_STDIN_SLOTS; i++)
		if (slots[i].process == process)
			slots[i] = (struct journal_stdin_slot){0};
}

/* --- after a crash ------------------------------------------------------------------------------------------------ */

/* The header's numbers that change together can have been left half changed. The tail is right, since moving it is the
 * only commit; the rest follows from the index, whose entries behind the tail, or not rising, are not valid. */
static bool recover_index(struct journal *journal)
{
	struct header *header = journal->header;
	if (header->index_count > journal->index_rows || header->tail < header->head ||
	    header->tail - header->head > header->ring)
		return false;
	uint64_t count = 0, before = 0;
	while (count < header->index_count) {
		uint64_t position = index_at(journal, count)->position;
		if (position >= header->tail || (count > 0 && position <= before))
			break;
		before = position;
		count++;
	}
	header->index_count = count;
	header->head = count > 0 ? index_at(journal, 0)->position : header->tail;
	header->first_seq = count > 0 ? index_at(journal, 0)->seq : 1;
	return header->tail - header->head <= header->ring && (count > 0 || header->tail == 0);
}

static void recover_last_seq(struct journal *journal)
{
	struct header *header = journal->header;
	header->last_seq = 0;
	if (header->index_count == 0)
		return;
	const struct index_entry *entry = index_at(journal, header->index_count - 1);
	header->last_seq = entry->seq - 1;
	for (uint64_t position = entry->position; position < header->tail; header->last_seq++) {
		size_t length;
		journal_frame(journal, position, &length);
		position += length;
	}
}

/* How many of the EXPECTED bytes at TARGET a read that did not return has brought: the canary shows it. Where the
 * last byte (of a terminal), or all of fewer than 16 bytes (of a pipe), happen to equal the canary, it shows too few. */
static size_t bytes_that_came(const struct journal *journal, enum stream stream, const uint8_t *target, size_t expected)
{
	size_t came = expected;
	if (stream == STREAM_TTY) {
		while (came > 0 && target[came - 1] == journal->canary[came - 1])
			came--;
		return came;
	}
	size_t guarded = expected < CANARY_BYTES ? expected : CANARY_BYTES;
	return memcmp(target + expected - guarded, journal->canary, guarded) == 0 ? 0 : expected;
}

/* Bytes that a read had brought, and that no longer stand in the pipe, become the OUTPUT that they would have been. */
static void recover_read(struct journal *journal)
{
	const struct intent intent = journal->header->intent;
	size_t have = (size_t)(intent.progress >> 32), expected = (uint32_t)intent.progress;
	journal->header->intent.progress = 0;
	if (intent.position != journal->header->tail || have > JOURNAL_READ || expected > JOURNAL_READ - have)
		return;
	uint8_t *frame = place(journal, intent.position), *target = frame + OUTPUT_HEADER_BYTES + have;
	if (expected > 0)
		have += bytes_that_came(journal, (enum stream)intent.stream, target, expected);
	if (have == 0)
		return;
	write_output_header(journal, frame, &intent, have);
	commit(journal, OUTPUT_HEADER_BYTES + have);
}

/* Map the file of FD, which becomes closed, if it has the form of a journal. */
static struct journal *map_checked(int fd, int protection, const char *name, struct error *err)
{
	struct header header;
	struct stat status;
	bool good = pread(fd, &header, sizeof header, 0) == sizeof header && fstat(fd, &status) == 0 &&
	            memcmp(header.magic, magic, sizeof magic) == 0 && header.ring >= JOURNAL_RING_LEAST &&
	            header.ring % PAGE == 0 && (uint64_t)status.st_size >= header.ring &&
	            (size_t)status.st_size == file_bytes(header.ring);
	if (!good) {
		close(fd);
		return error_set(err, 0, "journal `%s` is not one of this version", name), NULL;
	}
	struct journal *journal = map_journal(fd, header.ring, protection);
	if (!journal)
		error_set(err, errno, "map journal `%s`", name);
	return journal;
}

/* When the newest event was; 0 = there is none. */
static uint64_t newest_us(const struct journal *journal)
{
	const struct header *header = journal->header;
	if (header->last_seq < header->first_seq)
		return 0;
	size_t length;
	uint32_t kind;
	uint64_t seq, t_us;
	const uint8_t *frame = journal_frame(journal, journal_find(journal, header->last_seq), &length);
	return event_head_read(frame, length, &kind, &seq, &t_us) ? t_us : 0;
}

/* After a start of the machine its monotonic clock may be behind: the session's goes on with the time of day, and never
 * back. */
static void recover_clock(struct journal *journal)
{
	struct header *header = journal->header;
	uint64_t monotonic = clock_us(CLOCK_MONOTONIC), day = clock_us(CLOCK_REALTIME), newest = newest_us(journal);
	if (monotonic >= header->started_us && monotonic - header->started_us >= newest)
		return;
	uint64_t since = day > header->created_us ? day - header->created_us : 0;
	header->started_us = monotonic - (since > newest ? since : newest); /* modulo 2^64, as in journal_now_us() */
}

struct journal *journal_open(int directory, const char *name, struct error *err)
{
	int fd = plain_file_open(directory, name, O_RDWR, 0);
	if (fd < 0)
		return error_set(err, errno, "open journal `%s`", name), NULL;
	struct journal *journal = map_checked(fd, PROT_READ | PROT_WRITE, name, err);
	if (!journal)
		return NULL;
	repeat_canary(journal);
	if (!recover_index(journal)) {
		journal_destroy(journal);
		return error_set(err, 0, "journal `%s` is damaged", name), NULL;
	}
	recover_last_seq(journal);
	recover_clock(journal);
	recover_read(journal);
	return journal;
}

/* --- for another process ------------------------------------------------------------------------------------------ */

struct journal *journal_follow(int fd, struct error *err)
{
	return map_checked(fd, PROT_READ, "that is followed", err);
}

const uint8_t *journal_peek(const struct journal *journal, uint64_t position, size_t most, size_t *length)
{
	uint64_t tail = __atomic_load_n(&journal->header->tail, __ATOMIC_ACQUIRE);
	*length = 0;
	if (position > tail || tail - position > journal->ring)
		return NULL;
	*length = tail - position < most ? (size_t)(tail - position) : most;
	return journal->ring_map + position % journal->ring;
}

/* The head passes POSITION before anything there is overwritten: make_room(). */
bool journal_holds(const struct journal *journal, uint64_t position)
{
	atomic_thread_fence(memory_order_acquire);
	return __atomic_load_n(&journal->header->head, __ATOMIC_RELAXED) <= position;
}
