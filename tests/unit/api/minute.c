/* What happened in the last minute, and what is longer ago. */
#include "server/api/minute.h"

#include <criterion/criterion.h>

Test(minute, what_is_longer_ago_than_a_minute_is_not_counted)
{
	static const struct {
		uint64_t second, more; /* so many are added at that second */
		uint64_t sum;          /* and then there are so many */
	} steps[] = {{1000, 3, 3}, {1000, 1, 4}, {1001, 2, 6}, {1059, 0, 6}, {1060, 0, 2}, {1060, 5, 7},
	             {1061, 0, 5}, {1119, 1, 6}, {1120, 0, 1}, {1178, 0, 1}, {1179, 0, 0}, {1000000, 2, 2}};
	struct minute minute = {0};
	for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
		for (uint64_t n = 0; n < steps[i].more; n++)
			minute_add(&minute, steps[i].second);
		cr_expect_eq(minute_sum(&minute, steps[i].second), steps[i].sum, "step %zu", i);
	}
}
