/* Reading a process's output into its final place: from pipes, from terminals, to their end; and a disk that is full. */
#include "protocol/frame.h"
#include "server/session/journal.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <pty.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder_path[] = "/tmp/sandbar-source-XXXXXX";
static struct journal *journal;
static int folder;

static void set_up(void)
{
	cr_assert_not_null(mkdtemp(folder_path));
	folder = open(folder_path, O_DIRECTORY | O_RDONLY | O_CLOEXEC);
	struct error err = {0};
	journal = journal_create(folder, "journal", JOURNAL_RING_LEAST, &err);
	cr_assert_not_null(journal, "%s", err.message);
}

static void tear_down(void)
{
	journal_destroy(journal);
	unlinkat(folder, "journal", 0);
	close(folder);
	rmdir(folder_path);
}
TestSuite(journal_source, .init = set_up, .fini = tear_down);

/* Read once, and check the one OUTPUT that it gives, or that it gives none. */
static size_t read_once(struct journal_source *source, size_t most, enum journal_read_end *end, const char **bytes)
{
	uint64_t position = journal_tail(journal), last = journal_last_seq(journal);
	size_t got = journal_read_output(journal, source, most, end);
	if (got == 0) {
		cr_assert(journal_tail(journal) == position && journal_last_seq(journal) == last, "nothing is no event");
		return 0;
	}
	size_t length;
	struct output_header header;
	const uint8_t *frame = journal_frame(journal, position, &length);
	cr_assert(output_header_read(frame, length, &header));
	cr_assert(header.seq == last + 1 && header.offset == source->offset && header.length == got);
	cr_assert(header.process == source->process && header.stream == source->stream);
	cr_assert_eq(journal_tail(journal), position + OUTPUT_HEADER_BYTES + got);
	*bytes = (const char *)frame + OUTPUT_HEADER_BYTES;
	source->offset += got;
	return got;
}

Test(journal_source, a_pipe_is_read_until_it_would_block_and_until_its_end)
{
	int fds[2];
	cr_assert_eq(pipe2(fds, O_NONBLOCK | O_CLOEXEC), 0);
	struct journal_source source = {fds[0], 3, STREAM_STDOUT, 0};
	enum journal_read_end end;
	const char *bytes;
	cr_expect_eq(read_once(&source, JOURNAL_READ, &end, &bytes), 0);
	cr_expect_eq(end, JOURNAL_READ_BLOCKED);
	cr_assert_eq(write(fds[1], "a\0b\xff", 4), 4);
	cr_assert_eq(read_once(&source, JOURNAL_READ, &end, &bytes), 4);
	cr_expect(end == JOURNAL_READ_BLOCKED && memcmp(bytes, "a\0b\xff", 4) == 0, "no byte is special");
	cr_assert_eq(write(fds[1], "last", 4), 4);
	close(fds[1]);
	cr_assert_eq(read_once(&source, JOURNAL_READ, &end, &bytes), 4);
	cr_expect(end == JOURNAL_READ_ENDED && memcmp(bytes, "last", 4) == 0, "the end does not cost the last bytes");
	cr_expect_eq(read_once(&source, JOURNAL_READ, &end, &bytes), 0);
	cr_expect_eq(end, JOURNAL_READ_ENDED);
	cr_expect_eq(source.offset, 8);
	close(fds[0]);
}

/* What is found in the target of a read is what was read, of whatever length: the canary never shows. */
Test(journal_source, every_length_is_exact)
{
	int fds[2];
	cr_assert_eq(pipe2(fds, O_NONBLOCK | O_CLOEXEC), 0);
	cr_assert_gt(fcntl(fds[1], F_SETPIPE_SZ, 1024 * 1024), 0);
	struct journal_source source = {fds[0], 1, STREAM_STDERR, 0};
	static char sent[200000];
	for (size_t length = 1; length < sizeof sent; length += length < 70 ? 1 : length / 3) {
		for (size_t i = 0; i < length; i++)
			sent[i] = (char)(i * 31 + length);
		cr_assert_eq(write(fds[1], sent, length), (ssize_t)length);
		enum journal_read_end end = JOURNAL_READ_MORE;
		size_t at = 0;
		while (end == JOURNAL_READ_MORE) {
			const char *bytes = NULL;
			size_t got = read_once(&source, JOURNAL_READ, &end, &bytes);
			cr_assert_leq(got, JOURNAL_READ);
			cr_assert(end != JOURNAL_READ_MORE || got == JOURNAL_READ, "a frame is as full as it can be");
			cr_assert(got == 0 || memcmp(bytes, sent + at, got) == 0, "length %zu at %zu", length, at);
			at += got;
		}
		cr_assert_eq(at, length);
		cr_assert_eq(end, JOURNAL_READ_BLOCKED);
	}
	close(fds[0]);
	close(fds[1]);
}

Test(journal_source, never_more_than_was_asked_for)
{
	int fds[2];
	cr_assert_eq(pipe2(fds, O_NONBLOCK | O_CLOEXEC), 0);
	struct journal_source source = {fds[0], 1, STREAM_STDOUT, 0};
	enum journal_read_end end;
	const char *bytes;
	cr_assert_eq(write(fds[1], "0123456789", 10), 10);
	cr_assert_eq(read_once(&source, 3, &end, &bytes), 3);
	cr_expect(end == JOURNAL_READ_MORE && memcmp(bytes, "012", 3) == 0);
	cr_assert_eq(read_once(&source, 7, &end, &bytes), 7);
	cr_expect(end == JOURNAL_READ_MORE && memcmp(bytes, "3456789", 7) == 0, "that it is all was not looked for");
	close(fds[1]);
	cr_expect_eq(read_once(&source, 1, &end, &bytes), 0);
	cr_expect_eq(end, JOURNAL_READ_ENDED);
	close(fds[0]);
}

/* A pty gives at most 4,095 bytes a read; they become one frame. EIO is its end, after all bytes. */
Test(journal_source, a_terminal_is_read_to_its_hangup)
{
	int master, slave;
	struct termios raw;
	cr_assert_eq(openpty(&master, &slave, NULL, NULL, NULL), 0);
	tcgetattr(slave, &raw);
	cfmakeraw(&raw);
	tcsetattr(slave, TCSANOW, &raw);
	cr_assert_eq(fcntl(master, F_SETFL, O_NONBLOCK), 0);
	struct journal_source source = {master, 9, STREAM_TTY, 0};
	enum journal_read_end end;
	const char *bytes;
	cr_expect_eq(read_once(&source, JOURNAL_READ, &end, &bytes), 0);
	cr_expect_eq(end, JOURNAL_READ_BLOCKED);
	static char sent[9000];
	for (size_t i = 0; i < sizeof sent; i++)
		sent[i] = (char)(i * 7);
	cr_assert_eq(write(slave, sent, sizeof sent), (ssize_t)sizeof sent);
	close(slave);
	size_t at = 0;
	for (int turns = 0; turns < 1000 && at < sizeof sent; turns++) {
		size_t got = read_once(&source, JOURNAL_READ, &end, &bytes);
		cr_assert(got == 0 || memcmp(bytes, sent + at, got) == 0);
		at += got;
	}
	cr_expect_eq(at, sizeof sent);
	if (end != JOURNAL_READ_ENDED)
		read_once(&source, JOURNAL_READ, &end, &bytes);
	cr_expect_eq(end, JOURNAL_READ_ENDED);
	close(master);
}

/* --- making the file --- */

Test(journal_source, a_name_that_is_there_is_not_taken)
{
	struct error err = {0};
	cr_expect_null(journal_create(folder, "journal", JOURNAL_RING_LEAST, &err));
	cr_expect_eq(err.errnum, EEXIST);
	cr_expect_not_null(strstr(err.message, "journal"), "%s", err.message);
	cr_assert_eq(symlinkat("/etc/passwd", folder, "link"), 0);
	cr_expect_null(journal_create(folder, "link", JOURNAL_RING_LEAST, &err));
	unlinkat(folder, "link", 0);
	struct stat status;
	cr_assert_eq(fstatat(folder, "journal", &status, 0), 0);
	cr_expect_eq(status.st_mode & 0777, 0600);
	cr_expect_geq((uint64_t)status.st_blocks * 512, JOURNAL_RING_LEAST, "allocated whole");
}

enum { FULL_OK, FULL_NO_NAMESPACE, FULL_CREATED, FULL_OTHER_ERROR, FULL_LEFT_A_FILE };

/* In a process of its own, since the file system that is filled must be nobody else's. */
static int try_full_disk(const char *path)
{
	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("tmpfs", path, "tmpfs", MS_NOSUID | MS_NODEV, "size=256k") < 0)
		return FULL_NO_NAMESPACE;
	int full = open(path, O_DIRECTORY | O_RDONLY | O_CLOEXEC);
	struct error err = {0};
	if (journal_create(full, "journal", JOURNAL_RING_LEAST, &err))
		return FULL_CREATED;
	if (err.errnum != ENOSPC)
		return FULL_OTHER_ERROR;
	return faccessat(full, "journal", F_OK, 0) == 0 ? FULL_LEFT_A_FILE : FULL_OK;
}

Test(journal_source, a_full_disk_is_an_error_and_leaves_no_file)
{
	char path[] = "/tmp/sandbar-full-XXXXXX";
	cr_assert_not_null(mkdtemp(path));
	pid_t child = fork();
	if (child == 0)
		_exit(try_full_disk(path));
	int status = 0;
	cr_assert_eq(waitpid(child, &status, 0), child);
	rmdir(path);
	cr_assert(WIFEXITED(status), "status %#x", (unsigned)status);
	if (WEXITSTATUS(status) == FULL_NO_NAMESPACE)
		cr_skip_test("this user may not mount a tmpfs in a namespace of its own");
	cr_expect_eq(WEXITSTATUS(status), FULL_OK, "outcome %d", WEXITSTATUS(status));
}
