/*
 * A flood of big blocks through a terminal in raw mode to one client, which misses nothing. Beside it stands pty_drain.
 */
#include "tests/bench/bare/measure.h"
#include "work.h"

#include <stdio.h>

int main(int argc, char **argv)
{
	uint64_t bytes = UINT64_C(1) << 28;
	const struct option_row options[] = {{"--bytes", &bytes, "how many"}, {NULL, NULL, NULL}};
	char command[128];
	const char *shell[] = {"sh", "-c", command, NULL};
	options_read(argc, argv, options);
	snprintf(command, sizeof command, "stty raw; exec dd if=/dev/zero bs=64K iflag=count_bytes status=none count=%llu",
	         (unsigned long long)bytes);
	rate_print("sandbar_terminal", bytes, work_flood(shell, true, bytes, NULL));
	return 0;
}
