#include "folder.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char path[32];
static int directory;

int folder_open(void)
{
	snprintf(path, sizeof path, "/tmp/sandbar-guard-XXXXXX");
	cr_assert_not_null(mkdtemp(path));
	directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cr_assert_geq(directory, 0);
	return directory;
}

void folder_close(const char *const *names)
{
	for (; *names; names++)
		unlinkat(directory, *names, 0);
	close(directory);
	cr_assert_eq(rmdir(path), 0);
}
