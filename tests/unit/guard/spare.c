/* Files that are replaced as a whole, and the second file that has room for that on a full disk. */
#include "folder.h"
#include "server/base/json_file.h"

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
	folder_close((const char *const[]){"file", "file.spare", NULL});
}

TestSuite(spare, .init = set_up, .fini = tear_down);

static off_t size_of(const char *name)
{
	struct stat status;
	cr_assert_eq(fstatat(directory, name, &status, 0), 0);
	return status.st_size;
}

/* As it is where the spare took its place. */
static void pad(off_t size)
{
	int fd = openat(directory, "file", O_WRONLY | O_APPEND | O_CLOEXEC);
	for (off_t i = size_of("file"); i < size; i++)
		cr_assert_eq(write(fd, "\n", 1), 1);
	close(fd);
}

static struct spare_file changing(void)
{
	return (struct spare_file){.directory = directory, .name = "file", .is_changed = true};
}

/* Over every start of a server that finds the spare in the file's place. */
Test(spare, it_is_for_the_text_and_not_for_empty_lines)
{
	const struct spare_file file = changing();
	struct error err = {0};
	cr_assert_eq(spare_file_replace(&file, "{\n}", &err), 0, "%s", err.message);
	cr_assert_eq(size_of("file.spare"), (off_t)SPARE_BLOCK);
	pad(3 * SPARE_BLOCK + 5);
	spare_file_reserve(&file);
	cr_expect_eq(size_of("file.spare"), (off_t)SPARE_BLOCK);
	spare_file_drop(directory, "file");
	pad(9 * SPARE_BLOCK);
	spare_file_reserve(&file);
	cr_expect_eq(size_of("file.spare"), (off_t)SPARE_BLOCK);
}

static bool is_read(size_t most)
{
	struct error err = {0};
	json_t *json = json_file_read(directory, "file", most, &err);
	cr_expect(json || err.errnum == EFBIG, "%s", err.message);
	json_decref(json);
	return json != NULL;
}

/* Whatever its length is: the spare of the longest text can be read where that can. */
Test(spare, what_it_adds_is_read)
{
	const struct spare_file file = changing();
	struct error err = {0};
	for (size_t length = 2 * SPARE_BLOCK - SPARE_SLACK - 2; length < 2 * SPARE_BLOCK - SPARE_SLACK + 3; length++) {
		char text[2 * SPARE_BLOCK] = "[]";
		memset(text + 2, ' ', length - 3);
		text[length - 1] = '\t';
		spare_file_drop(directory, "file");
		cr_assert_eq(spare_file_replace(&file, text, &err), 0, "%s", err.message);
		pad(size_of("file.spare"));
		cr_expect(is_read(length), "%zu and %lld bytes", length, (long long)size_of("file.spare"));
		cr_expect_not(is_read(length / 4));
	}
}
