/* How far output may run ahead of who draws it: somebody draws at a rate, and the bound follows. */
#include "protocol/pace.h"

#include <criterion/criterion.h>

enum { MOST = 64 * 1024, STEP_US = 5000 };

/* Draw at RATE bytes a second for a while, always behind; the bound at the end. */
static uint64_t bound_at(struct pace *pace, uint64_t rate)
{
	static uint64_t now = 1, total = 0;
	for (int i = 0; i < 100; i++) {
		now += STEP_US;
		total += rate * STEP_US / 1000000;
		pace_note(pace, total, now, true);
	}
	return pace->bound;
}

Test(pace, what_is_drawn_in_20_ms_is_the_bound)
{
	static const struct {
		uint64_t rate, bound;
	} table[] = {{1000000, 20000}, {2000000, 40000}, {500000, 10000}, {100000, PACE_LEAST},
	             {0, PACE_LEAST},  {80000000, MOST}, {1000000, 20000}};
	struct pace pace;
	pace_init(&pace, MOST);
	cr_assert_eq(pace.bound, PACE_FIRST);
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
		cr_assert_eq(bound_at(&pace, table[i].rate), table[i].bound, "at %lu bytes a second",
		             (unsigned long)table[i].rate);
}

Test(pace, who_waits_for_output_and_not_for_drawing_says_nothing_of_how_quickly_it_draws)
{
	struct pace pace;
	pace_init(&pace, MOST);
	uint64_t now = 1000000;
	for (int i = 0; i < 1000; i++)
		pace_note(&pace, 1, now += 10, false); /* a few bytes, often: 10 ms in all */
	cr_assert_leq(pace.bound, 2 * PACE_FIRST, "it grows by time, not by how often somebody tells");
	for (int i = 0; i < 10; i++)
		pace_note(&pace, 1, now += PACE_US, false);
	cr_assert_eq(pace.bound, MOST);
	pace_note(&pace, 1, now += PACE_US, true); /* a short wait for drawing is no measurement yet */
	cr_assert_eq(pace.bound, MOST);
}

Test(pace, a_window_below_the_least_stays_the_most)
{
	struct pace pace;
	pace_init(&pace, 1000);
	cr_assert_eq(pace.bound, 1000);
	cr_assert_eq(bound_at(&pace, 10000000), 1000);
	cr_assert_eq(bound_at(&pace, 10), 1000);
}
