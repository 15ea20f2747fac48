#include "clients/c/watch.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static unsigned calls;
static struct watches watches;

static void count(struct sandbar *sandbar, int fd, unsigned ready, void *user)
{
	(void)sandbar, (void)fd, (void)user;
	cr_expect_eq(ready, SANDBAR_READABLE);
	calls++;
}

static void remove_both(struct sandbar *sandbar, int fd, unsigned ready, void *user)
{
	int *fds = user;

	(void)sandbar, (void)fd, (void)ready;
	calls++;
	watches_remove(&watches, fds[0]);
	watches_remove(&watches, fds[1]);
}

Test(watch, a_regular_file_is_always_ready)
{
	FILE *file = tmpfile();

	cr_assert_eq(watches_init(&watches, NULL), 0);
	cr_assert_eq(watches_set(&watches, fileno(file), SANDBAR_READABLE, count, NULL, NULL), 0);
	cr_expect_eq(watches.always_ready, 1);
	watches_dispatch(&watches, NULL);
	cr_expect_eq(calls, 1);
	watches_set(&watches, fileno(file), 0, count, NULL, NULL);
	cr_expect_eq(watches.always_ready, 0);
	watches_dispatch(&watches, NULL);
	cr_expect_eq(calls, 1);
	watches_finish(&watches, true);
	fclose(file);
}

/* The reader of our output has gone: who does not want to know now is not told again and again. */
Test(watch, a_silent_watch_hears_no_hang_up)
{
	int ends[2];

	cr_assert_eq(pipe2(ends, O_CLOEXEC), 0);
	cr_assert_eq(watches_init(&watches, NULL), 0);
	watches_set(&watches, ends[0], SANDBAR_READABLE, count, NULL, NULL);
	close(ends[1]);
	watches_dispatch(&watches, NULL);
	cr_expect_eq(calls, 1, "a hang-up counts as readable");
	watches_set(&watches, ends[0], 0, count, NULL, NULL);
	watches_dispatch(&watches, NULL);
	cr_expect_eq(calls, 1);
	watches_set(&watches, ends[0], SANDBAR_READABLE, count, NULL, NULL);
	watches_dispatch(&watches, NULL);
	cr_expect_eq(calls, 2);
	watches_finish(&watches, true);
	close(ends[0]);
}

/* Two are ready in one turn, and the first removes both. */
Test(watch, may_be_removed_from_a_callback)
{
	int first[2], second[2];

	cr_assert(pipe2(first, O_CLOEXEC) == 0 && pipe2(second, O_CLOEXEC) == 0);
	cr_assert_eq(watches_init(&watches, NULL), 0);
	int both[2] = {first[0], second[0]};
	watches_set(&watches, first[0], SANDBAR_READABLE, remove_both, both, NULL);
	watches_set(&watches, second[0], SANDBAR_READABLE, remove_both, both, NULL);
	cr_assert(write(first[1], "x", 1) == 1 && write(second[1], "x", 1) == 1);
	watches_dispatch(&watches, NULL);
	cr_expect_eq(calls, 1);
	watches_finish(&watches, true);
}
