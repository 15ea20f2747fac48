#include "abuse.h"

#include "attempt.h"
#include "guard.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { PRESS_MS = 400, GIVE_UP_MS = 20000, EXIT_USAGE = 64 };

static long now_ms(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int abuse_list(const char *argument)
{
	char expected[EXPECTED_TEXT];
	(void)argument;
	for (size_t i = 0; i < ABUSE_COUNT; i++) {
		expected_text(ABUSES[i].expected, expected);
		printf("%s\t%s\t%s\t%s\t%s\n", ABUSES[i].name, ABUSES[i].control, ABUSES[i].layer, expected, ABUSES[i].attempt);
	}
	return 0;
}

static void tell(const struct abuse *abuse, int outcome, unsigned long count)
{
	char text[256], got[OUTCOME_TEXT];
	outcome_text(outcome, got);
	int length = snprintf(text, sizeof text, "%s\t%s\t%lu\n", abuse->name, got, count);
	(void)!write(STDOUT_FILENO, text, (size_t)length);
}

/* Until the limit is there, and then a while more. Children that a row makes come through here, too, and do not tell. */
static void press_on(const struct abuse *abuse)
{
	pid_t teller = getpid();
	unsigned long count = 0;
	bool is_endless = abuse->expected[0] == ABUSE_ENDLESS, has_told = false;
	long end = now_ms() + (is_endless ? PRESS_MS : GIVE_UP_MS);
	while (now_ms() < end) {
		if (abuse->press()) {
			count++;
			continue;
		}
		if (!has_told && getpid() == teller) {
			tell(abuse, errno, count);
			end = now_ms() + PRESS_MS;
		}
		has_told = true;
	}
	if (!has_told && getpid() == teller)
		tell(abuse, is_endless ? ABUSE_ENDLESS : OUTCOME_OPEN, count);
}

int abuse_run(const char *name)
{
	if (guard_refusal_of_grave())
		return EXIT_OUTSIDE;
	for (size_t i = 0; name && i < ABUSE_COUNT; i++)
		if (strcmp(ABUSES[i].name, name) == 0) {
			press_on(&ABUSES[i]);
			return 0;
		}
	return EXIT_USAGE;
}
