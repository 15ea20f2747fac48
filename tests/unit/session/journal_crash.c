/* A gateway that is killed while it reads: the next one finds every byte, once, and goes on. */
#include "protocol/frame.h"
#include "protocol/writer.h"
#include "server/session/journal.h"
#include "tests/unit/protocol/random.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { KILLS = 150, PIPE = 1 << 20, BLOCK = 4096 };

static char folder_path[] = "/tmp/sandbar-crash-XXXXXX";
static int folder, pipe_fds[2];

static void set_up(void)
{
	cr_assert_not_null(mkdtemp(folder_path));
	folder = open(folder_path, O_DIRECTORY | O_RDONLY | O_CLOEXEC);
	cr_assert_eq(pipe2(pipe_fds, O_NONBLOCK | O_CLOEXEC), 0);
	cr_assert_gt(fcntl(pipe_fds[1], F_SETPIPE_SZ, PIPE), 0);
	struct error err = {0};
	struct journal *journal = journal_create(folder, "journal", JOURNAL_RING_LEAST, &err);
	cr_assert_not_null(journal, "%s", err.message);
	journal_destroy(journal);
}

static void tear_down(void)
{
	unlinkat(folder, "journal", 0);
	close(folder);
	rmdir(folder_path);
}
TestSuite(journal_crash, .init = set_up, .fini = tear_down);

static uint8_t byte_at(uint64_t offset)
{
	return (uint8_t)(offset * 7 + (offset >> 8) * 13 + (offset >> 16) * 17);
}

static void expect_bytes(const uint8_t *bytes, uint64_t offset, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (bytes[i] != byte_at(offset + i))
			cr_assert_fail("byte %llu", (unsigned long long)offset + i);
}

static struct journal *open_journal(void)
{
	struct error err = {0};
	struct journal *journal = journal_open(folder, "journal", &err);
	cr_assert_not_null(journal, "%s", err.message);
	return journal;
}

/* The gateway: reads, and appends an event now and then, until it is killed. */
static void read_for_ever(struct journal *journal, uint64_t offset, struct random random)
{
	struct writer writer;
	writer_init(&writer, 256);
	for (;;) {
		const struct journal_source source = {pipe_fds[0], 1, STREAM_STDOUT, offset};
		enum journal_read_end end;
		offset += journal_read_output(journal, &source, BLOCK * (1 + random_below(&random, 16)), &end);
		if (random_below(&random, 4) > 0)
			continue;
		writer_reset(&writer);
		writer_array(&writer, 4);
		writer_uint(&writer, FRAME_ENDED);
		writer_uint(&writer, journal_last_seq(journal) + 1);
		writer_uint(&writer, 1);
		writer_str(&writer, "between");
		journal_append(journal, writer.data, writer.length);
	}
}

/* Send blocks until MORE of them went out; the offset behind them. */
static uint64_t send_blocks(uint64_t sent, uint32_t more)
{
	uint8_t block[BLOCK];
	while (more > 0) {
		for (size_t i = 0; i < BLOCK; i++)
			block[i] = byte_at(sent + i);
		if (write(pipe_fds[1], block, BLOCK) != BLOCK)
			continue;
		sent += BLOCK;
		more--;
	}
	return sent;
}

/* Walk all that is there: seq and offsets without a gap, every byte in its place. The offset behind the last OUTPUT, or
 * OFFSET where there is none. */
static uint64_t walk(const struct journal *journal, uint64_t offset)
{
	uint64_t position = journal_head(journal), seq = journal_first_seq(journal);
	bool is_first = true;
	for (size_t length; position < journal_tail(journal); position += length, seq++) {
		const uint8_t *frame = journal_frame(journal, position, &length);
		uint32_t kind;
		uint64_t told, t_us;
		cr_assert(event_head_read(frame, length, &kind, &told, &t_us) && told == seq);
		cr_assert_eq(journal_find(journal, seq), position);
		struct output_header output;
		if (!output_header_read(frame, length, &output))
			continue;
		cr_assert(is_first || output.offset == offset, "%llu follows %llu", (unsigned long long)output.offset,
		          (unsigned long long)offset);
		expect_bytes(frame + OUTPUT_HEADER_BYTES, output.offset, output.length);
		offset = output.offset + output.length;
		is_first = false;
	}
	cr_assert_eq(seq, journal_last_seq(journal) + 1);
	return offset;
}

Test(journal_crash, no_kill_costs_a_byte)
{
	struct random random = {.state = 11};
	uint64_t sent = 0, offset = 0, committed = 0;
	for (int kills = 0; kills < KILLS; kills++) {
		struct journal *journal = open_journal();
		cr_assert_eq(walk(journal, offset), offset, "opened again without a change");
		random_next(&random);
		pid_t child = fork();
		if (child == 0)
			read_for_ever(journal, offset, random);
		sent = send_blocks(sent, random_below(&random, 300));
		usleep(random_below(&random, 300));
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
		journal_destroy(journal);
		journal = open_journal();
		uint64_t now = walk(journal, offset);
		cr_assert_geq(now, offset);
		offset = now;
		committed = journal_last_seq(journal);
		journal_destroy(journal);
	}
	uint8_t rest[BLOCK];
	for (ssize_t got; (got = read(pipe_fds[0], rest, sizeof rest)) > 0; offset += (uint64_t)got)
		expect_bytes(rest, offset, (size_t)got);
	cr_expect_eq(offset, sent, "what is not in the journal is still in the pipe");
	cr_expect_gt(committed, KILLS);
}

Test(journal_crash, what_was_known_is_known_again)
{
	struct journal *journal = open_journal();
	uint8_t client[CLIENT_ID_BYTES] = "ada";
	journal_stdin(journal, client, 3, true)->accepted = 77;
	uint64_t created = journal_created_us(journal);
	journal_append(journal, "\x94\x0d\x01\x05\xa1x", 6);
	journal_destroy(journal);
	journal = open_journal();
	cr_expect(journal_stdin(journal, client, 3, false)->accepted == 77 && journal_created_us(journal) == created);
	cr_expect(journal_first_seq(journal) == 1 && journal_last_seq(journal) == 1 && journal_tail(journal) == 6);
	cr_expect_geq(journal_now_us(journal), 0);
	journal_destroy(journal);
}

/* Whatever a file holds, opening it is an error or gives a journal that can be walked: never a fault. */
Test(journal_crash, another_file_is_not_a_journal)
{
	struct error err = {0};
	cr_expect_null(journal_open(folder, "absent", &err));
	cr_expect_eq(err.errnum, ENOENT);
	static const off_t sizes[] = {0, 1, 4096, 8192, 100000};
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		int fd = openat(folder, "other", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
		cr_assert_eq(ftruncate(fd, sizes[i]), 0);
		close(fd);
		cr_expect_null(journal_open(folder, "other", &err), "%ld zeroes", (long)sizes[i]);
	}
	unlinkat(folder, "other", 0);
	int fd = openat(folder, "journal", O_RDWR | O_CLOEXEC);
	off_t size = lseek(fd, 0, SEEK_END);
	cr_assert_eq(ftruncate(fd, size - 4096), 0); /* a read over its end would be SIGBUS */
	close(fd);
	cr_expect_null(journal_open(folder, "journal", &err), "shorter than its header says");
}
