#include "clients/c/backoff.h"

#include <criterion/criterion.h>

/* A server restarts, and its clients come back: soon at first, then ever more rarely, and not in one moment. */
Test(backoff, doubles_up_to_its_most_with_jitter)
{
	static const struct {
		uint32_t attempt, random, delay;
	} cases[] = {
		{0, 0, 50},    {0, 50, 100}, {0, 51, 50},     {1, 0, 100},
		{3, 400, 800}, {6, 0, 2500}, {6, 2500, 5000}, {20, 2500, 5000},
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct backoff backoff = {.base_ms = 100, .most_ms = 5000, .attempt = cases[i].attempt};
		cr_expect_eq(backoff_next(&backoff, cases[i].random), cases[i].delay, "case %zu", i);
	}
}

Test(backoff, never_overflows)
{
	struct backoff backoff = {.base_ms = 100, .most_ms = 5000};

	for (int i = 0; i < 1000; i++) {
		uint32_t delay = backoff_next(&backoff, (uint32_t)i * 2654435761U);
		cr_assert(delay >= 50 && delay <= 5000, "attempt %d waits %u", i, delay);
	}
}
