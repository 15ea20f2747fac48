/*
 * A flood through a terminal, bare: a program writes big blocks to a pty in raw mode, and its master is read to the end.
 * A program named after `--` is run instead; --bytes then says how many it writes.
 */
#include "measure.h"

#include <errno.h>
#include <fcntl.h>
#include <pty.h>
#include <stdio.h>
#include <stdlib.h>
#include <termios.h>
#include <unistd.h>

enum { BLOCK_BYTES = 65536 };

static void open_raw(int *master, int *slave)
{
	struct termios modes;
	if (openpty(master, slave, NULL, NULL, NULL) != 0 || tcgetattr(*slave, &modes) != 0)
		die("openpty");
	cfmakeraw(&modes);
	if (tcsetattr(*slave, TCSANOW, &modes) != 0)
		die("the modes of the terminal");
	fcntl(*master, F_SETFD, FD_CLOEXEC);
	fcntl(*slave, F_SETFD, FD_CLOEXEC);
}

/* Read to the end, which a pty tells by EIO. */
static uint64_t drain(int master)
{
	static char block[BLOCK_BYTES];
	uint64_t total = 0;
	ssize_t got;
	while ((got = read(master, block, sizeof block)) > 0)
		total += (uint64_t)got;
	if (got < 0 && errno != EIO)
		die("read from the terminal");
	return total;
}

int main(int argc, char **argv)
{
	uint64_t bytes = UINT64_C(1) << 28;
	const struct option_row options[] = {{"--bytes", &bytes, "how many"}, {NULL, NULL, NULL}};
	char count[32];
	char *dd[] = {"dd", "if=/dev/zero", "bs=64K", "iflag=count_bytes", "status=none", count, NULL};
	int master, slave;
	int first = options_read(argc, argv, options);
	snprintf(count, sizeof count, "count=%llu", (unsigned long long)bytes);
	open_raw(&master, &slave);
	uint64_t begin = now_ns();
	pid_t writer = start(first < argc ? argv + first : dd, slave, 1);
	close(slave);
	uint64_t total = drain(master);
	uint64_t taken = now_ns() - begin;
	wait_for(writer);
	if (total != bytes) {
		fprintf(stderr, "%llu bytes came, %llu were expected\n", (unsigned long long)total, (unsigned long long)bytes);
		return 1;
	}
	rate_print("pty_drain", bytes, taken);
	return 0;
}
