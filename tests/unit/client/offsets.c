#include "clients/c/offsets.h"

#include "protocol/wire.h"

#include <criterion/criterion.h>

/* Every byte once, in order: a hole, a repetition, and the streams apart. */
Test(offsets, see_what_is_missing_and_what_is_doubled)
{
	struct offsets offsets;
	uint64_t next;

	offsets_init(&offsets);
	offsets_start(&offsets, 1);
	cr_expect(offsets_advance(&offsets, 1, STREAM_STDOUT, 0, 10));
	cr_expect(offsets_advance(&offsets, 1, STREAM_STDERR, 0, 3));
	cr_expect(offsets_advance(&offsets, 1, STREAM_STDOUT, 10, 5));
	cr_expect_not(offsets_advance(&offsets, 1, STREAM_STDOUT, 16, 4), "byte 15 is missing");
	cr_expect_not(offsets_advance(&offsets, 1, STREAM_STDOUT, 19, 1), "byte 19 came before");
	cr_expect(offsets_next(&offsets, 1, STREAM_STDOUT, &next));
	cr_expect_eq(next, 20);
	offsets_finish(&offsets);
}

/* Who joins in the middle cannot know the first offset, but knows the ones after it. */
Test(offsets, learn_from_the_first_output)
{
	struct offsets offsets;
	uint64_t next;

	offsets_init(&offsets);
	cr_expect_not(offsets_next(&offsets, 7, STREAM_TTY, &next));
	cr_expect(offsets_advance(&offsets, 7, STREAM_TTY, 5000, 10));
	cr_expect_not(offsets_advance(&offsets, 7, STREAM_TTY, 5000, 10));
	offsets_finish(&offsets);
}

/* After a gap nothing is known, until STATE says where each stream goes on. */
Test(offsets, start_anew_after_a_gap)
{
	struct offsets offsets;

	offsets_init(&offsets);
	offsets_start(&offsets, 1);
	offsets_clear(&offsets);
	offsets_set(&offsets, 1, STREAM_STDOUT, 900);
	cr_expect_not(offsets_advance(&offsets, 1, STREAM_STDOUT, 899, 1));
	offsets_clear(&offsets);
	cr_expect(offsets_advance(&offsets, 1, STREAM_STDOUT, 12345, 1));
	offsets_finish(&offsets);
}

/* A thousand processes come and go; only those that may still write are remembered. */
Test(offsets, forget_what_has_ended)
{
	struct offsets offsets;

	offsets_init(&offsets);
	for (uint32_t process = 1; process <= 1000; process++) {
		offsets_start(&offsets, process);
		for (unsigned stream = 0; stream < OFFSETS_STREAMS; stream++)
			offsets_close(&offsets, process, stream);
	}
	cr_expect_eq(offsets.count, 0);
	offsets_start(&offsets, 1001);
	offsets_close(&offsets, 1001, STREAM_STDOUT);
	cr_expect_eq(offsets.count, 1);
	cr_expect_not(offsets_advance(&offsets, 1001, STREAM_STDERR, 1, 1), "a survivor's stream goes on at its offset");
	offsets_finish(&offsets);
}
