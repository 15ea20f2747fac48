/* Files that should be ours, and may be anything else. */
#include "folder.h"
#include "server/base/plain_file.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int directory;

static void set_up(void)
{
	directory = folder_open();
}

static void tear_down(void)
{
	folder_close((const char *const[]){"file", NULL});
}

TestSuite(plain_file, .init = set_up, .fini = tear_down);

static void write_file(const char *bytes, size_t length)
{
	int fd = openat(directory, "file", O_WRONLY | O_CREAT | O_EXCL, 0600);
	cr_assert(fd >= 0 && write(fd, bytes, length) == (ssize_t)length && close(fd) == 0);
}

static void expect_refused(size_t most, int errnum)
{
	size_t length;
	cr_expect_null(plain_file_read(directory, "file", most, &length));
	cr_expect_eq(errno, errnum, "errno %d", errno);
}

Test(plain_file, is_read_whole)
{
	size_t length = 0;
	write_file("a\0b", 3);
	char *text = plain_file_read(directory, "file", 3, &length);
	cr_assert_not_null(text);
	cr_expect(length == 3 && memcmp(text, "a\0b", 4) == 0);
	free(text);
	expect_refused(2, EFBIG);
}

Test(plain_file, that_is_empty)
{
	size_t length = 1;
	write_file("", 0);
	char *text = plain_file_read(directory, "file", 0, &length);
	cr_expect(text && length == 0 && text[0] == '\0');
	free(text);
}

Test(plain_file, that_is_not_there_or_no_file)
{
	expect_refused(100, ENOENT);
	cr_assert_eq(mkfifoat(directory, "file", 0600), 0);
	expect_refused(100, ENXIO);
	unlinkat(directory, "file", 0);
	cr_assert_eq(symlinkat("/etc/hostname", directory, "file"), 0);
	expect_refused(100, ELOOP);
}
