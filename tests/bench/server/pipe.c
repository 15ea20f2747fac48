/*
 * A flood through a pipe to one client, which misses nothing. Beside it stands pipe_tcp.
 */
#include "tests/bench/bare/measure.h"
#include "work.h"

#include <stdio.h>

int main(int argc, char **argv)
{
	uint64_t bytes = UINT64_C(1) << 30;
	const struct option_row options[] = {{"--bytes", &bytes, "how many"}, {NULL, NULL, NULL}};
	char count[24];
	const char *head[] = {"head", "-c", count, "/dev/zero", NULL};
	options_read(argc, argv, options);
	snprintf(count, sizeof count, "%llu", (unsigned long long)bytes);
	rate_print("sandbar_pipe", bytes, work_flood(head, false, bytes));
	return 0;
}
