#include "clients/c/input.h"

#include "protocol/wire.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static void expect_next(struct input *input, uint64_t offset, const char *text)
{
	const uint8_t *data;
	uint64_t at;
	size_t length;

	cr_assert(input_next(input, 1024, &at, &data, &length));
	cr_expect_eq(at, offset);
	cr_expect_eq(length, strlen(text));
	cr_expect_arr_eq(data, text, strlen(text));
}

static bool has_next(struct input *input)
{
	const uint8_t *data;
	uint64_t at;
	size_t length;

	return input_next(input, 1024, &at, &data, &length);
}

/* Ten bytes are sent, four acknowledged, the connection is cut: the other six go out again, at their offsets. */
Test(input, is_sent_again_from_what_was_acknowledged)
{
	struct input input;

	input_init(&input);
	cr_assert_eq(input_take(&input, "0123456789", 10), 10);
	expect_next(&input, 0, "0123456789");
	cr_assert(input_acknowledge(&input, 4));
	cr_expect_not(has_next(&input));
	cr_assert(input_resume(&input, 4));
	expect_next(&input, 4, "456789");
	input_finish(&input);
}

/* The server had accepted more than it could acknowledge before the cut. */
Test(input, goes_on_from_what_was_accepted)
{
	struct input input;

	input_init(&input);
	input_take(&input, "0123456789", 10);
	expect_next(&input, 0, "0123456789");
	cr_assert(input_resume(&input, 7));
	cr_expect_eq(input_room(&input), (size_t)LIMIT_STDIN_WINDOW - 3);
	expect_next(&input, 7, "789");
	cr_assert(input_acknowledge(&input, 10));
	cr_expect(input_is_done(&input));
	input_finish(&input);
}

Test(input, refuses_offsets_that_cannot_be)
{
	struct input input;

	input_init(&input);
	input_take(&input, "0123456789", 10);
	cr_expect_not(input_acknowledge(&input, 1), "nothing was sent yet");
	expect_next(&input, 0, "0123456789");
	cr_assert(input_acknowledge(&input, 6));
	cr_expect(input_acknowledge(&input, 2), "an old acknowledgement changes nothing");
	cr_expect_eq(input.base, 6);
	cr_expect_not(input_resume(&input, 5), "those bytes are not kept any more");
	cr_expect_not(input_resume(&input, 11), "those bytes never were");
	input_finish(&input);
}

/* A program that does not read: what is typed beyond the window is not taken. */
Test(input, takes_no_more_than_the_window)
{
	struct input input;
	static uint8_t much[LIMIT_STDIN_WINDOW + 100];
	const uint8_t *data;
	uint64_t at;
	size_t length, total = 0;

	input_init(&input);
	for (size_t i = 0; i < sizeof much; i++)
		much[i] = (uint8_t)(i * 7 + i / 256);
	cr_expect_eq(input_take(&input, much, sizeof much), LIMIT_STDIN_WINDOW);
	cr_expect_eq(input_room(&input), 0);
	while (input_next(&input, 64 * 1024, &at, &data, &length)) {
		cr_assert_eq(at, total);
		cr_assert_arr_eq(data, much + total, length);
		total += length;
	}
	cr_expect_eq(total, LIMIT_STDIN_WINDOW);
	cr_assert(input_acknowledge(&input, 1000));
	cr_expect_eq(input_take(&input, much + LIMIT_STDIN_WINDOW, 100), 100);
	cr_assert(input_next(&input, 1024, &at, &data, &length), "the ring goes round");
	cr_expect_eq(at, LIMIT_STDIN_WINDOW);
	cr_expect_arr_eq(data, much + LIMIT_STDIN_WINDOW, 100);
	input_finish(&input);
}

/* The end is told once on each connection, after the last byte. */
Test(input, ends_once_and_again_after_a_cut)
{
	struct input input;
	uint64_t at = 0;

	input_init(&input);
	input_take(&input, "abc", 3);
	input_end(&input);
	cr_expect_eq(input_room(&input), 0);
	cr_expect_not(input_next_eof(&input, &at), "bytes come first");
	expect_next(&input, 0, "abc");
	cr_assert(input_next_eof(&input, &at));
	cr_expect_eq(at, 3);
	cr_expect_not(input_next_eof(&input, &at));
	cr_expect_not(input_is_done(&input));
	cr_assert(input_resume(&input, 3));
	cr_assert(input_next_eof(&input, &at));
	cr_expect(input_is_done(&input));
	input_finish(&input);
}

/* stdin_window: what the server did not take waits for the next acknowledgement. */
Test(input, waits_when_the_server_is_full)
{
	struct input input;

	input_init(&input);
	input_take(&input, "0123456789", 10);
	expect_next(&input, 0, "0123456789");
	cr_assert(input_wait_at(&input, 8));
	cr_expect_not(has_next(&input));
	cr_assert(input_acknowledge(&input, 8));
	expect_next(&input, 8, "89");
	input_finish(&input);
}

/* Somebody else drives: the frames on their way are refused one after the other, and what is typed meanwhile waits for the
 * last refusal; it takes the place of what was refused. */
Test(input, drops_what_was_refused_and_nothing_else)
{
	struct input input;

	input_init(&input);
	input_take(&input, "ok", 2);
	expect_next(&input, 0, "ok");
	cr_assert(input_acknowledge(&input, 2));
	for (uint64_t i = 0; i < 3; i++) {
		input_take(&input, "x", 1);
		expect_next(&input, 2 + i, "x");
	}
	cr_assert(input_refuse(&input, 2));
	input_take(&input, "new", 3);
	cr_expect_not(has_next(&input), "two more refusals are to come");
	cr_assert(input_refuse(&input, 2));
	cr_expect_not(has_next(&input));
	cr_assert(input_refuse(&input, 2));
	expect_next(&input, 2, "new");
	cr_assert(input_acknowledge(&input, 5));
	cr_expect(input_is_done(&input));
	input_finish(&input);
}

/* Who types faster than the server answers sends larger frames, not more of them. */
Test(input, has_so_many_frames_on_their_way)
{
	struct input input;

	input_init(&input);
	for (uint64_t i = 0; i < INPUT_FRAMES; i++) {
		input_take(&input, "x", 1);
		expect_next(&input, i, "x");
	}
	input_take(&input, "yz", 2);
	cr_expect_not(has_next(&input));
	cr_assert(input_acknowledge(&input, 1));
	expect_next(&input, INPUT_FRAMES, "yz");
	cr_assert(input_acknowledge(&input, INPUT_FRAMES + 2));
	cr_expect(input_is_done(&input));
	cr_expect_eq(input.frames, 0);
	input_finish(&input);
}

/* The process is gone: what is left is dropped, and nobody waits for it. */
Test(input, stops)
{
	struct input input;

	input_init(&input);
	input_take(&input, "0123456789", 10);
	input_stop(&input);
	cr_expect_not(has_next(&input));
	cr_expect_eq(input_room(&input), 0);
	cr_expect(input_is_done(&input));
	input_finish(&input);
}
