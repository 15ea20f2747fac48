#include "retry.h"

#include <stddef.h>
#include <time.h>

#define FIRST_INTERVAL_NS UINT64_C(200000)
#define LAST_INTERVAL_NS UINT64_C(1000000000)
#define SECOND_NS UINT64_C(1000000000)

uint64_t monotonic_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * SECOND_NS + (uint64_t)now.tv_nsec;
}

static void append(struct retry_list *list, struct retry *retry)
{
	retry->list = list;
	retry->next = NULL;
	retry->previous = list->last;
	*(list->last ? &list->last->next : &list->first) = retry;
	list->last = retry;
}

static void detach(struct retry *retry)
{
	*(retry->previous ? &retry->previous->next : &retry->list->first) = retry->next;
	*(retry->next ? &retry->next->previous : &retry->list->last) = retry->previous;
	retry->list = NULL;
}

void retry_start(struct retry_list *list, struct retry *retry, void (*attempt)(struct retry *))
{
	if (retry->list)
		return;
	retry->attempt = attempt;
	retry->started = monotonic_ns();
	retry->due = retry->started;
	retry->interval = FIRST_INTERVAL_NS;
	append(list, retry);
}

void retry_stop(struct retry *retry)
{
	if (retry->list)
		detach(retry);
}

void retry_hurry(struct retry *retry)
{
	retry->due = monotonic_ns();
	retry->interval = FIRST_INTERVAL_NS;
}

bool retry_is_late(struct retry *retry, unsigned seconds)
{
	if (retry->started == 0 || monotonic_ns() - retry->started < seconds * SECOND_NS)
		return false;
	retry->started = 0;
	return true;
}

/* What is not due yet stands behind what is: an attempted one goes to the end of the list before its attempt, which
 * may take any retry out of the list, itself too. So the search begins anew each time, and is short. */
void retry_run(struct retry_list *list)
{
	uint64_t now = monotonic_ns();
	struct retry *retry = list->first;
	while (retry) {
		if (retry->due > now) {
			retry = retry->next;
			continue;
		}
		detach(retry);
		retry->due = now + retry->interval;
		retry->interval = retry->interval > LAST_INTERVAL_NS / 2 ? LAST_INTERVAL_NS : retry->interval * 2;
		append(list, retry);
		retry->attempt(retry);
		retry = list->first;
	}
}

uint64_t retry_next(const struct retry_list *list)
{
	uint64_t next = UINT64_MAX;
	for (const struct retry *retry = list->first; retry; retry = retry->next)
		if (retry->due < next)
			next = retry->due;
	return next;
}
