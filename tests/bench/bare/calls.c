/*
 * How many of one system call a process makes a second. Inside a session the same program runs beside itself: see
 * sandbar_calls.
 */
#include "measure.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { AT_ONCE = 1000, PAGE = 4096 };

static int zero; /* /dev/zero */

static void call_getpid(void)
{
	if (syscall(SYS_getpid) < 0)
		die("getpid");
}

static void call_read(void)
{
	char byte;
	if (read(zero, &byte, 1) != 1)
		die("read");
}

static void call_open(void)
{
	int file = open("/usr/bin/env", O_RDONLY | O_CLOEXEC);
	if (file < 0 || close(file) != 0)
		die("open");
}

static void call_mmap(void)
{
	void *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (page == MAP_FAILED || munmap(page, PAGE) != 0)
		die("mmap");
}

static void (*const calls[])(void) = {call_getpid, call_read, call_open, call_mmap};

int main(int argc, char **argv)
{
	uint64_t call = 0, ms = 500, made = 0;
	const struct option_row options[] = {{"--call", &call, "0 getpid, 1 read, 2 open and close, 3 mmap and munmap"},
	                                     {"--ms", &ms, "for so long"},
	                                     {NULL, NULL, NULL}};
	options_read(argc, argv, options);
	zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	if (zero < 0 || call >= sizeof calls / sizeof calls[0])
		die("--call");
	uint64_t begin = now_ns(), taken;
	do {
		for (int i = 0; i < AT_ONCE; i++)
			calls[call]();
		made += AT_ONCE;
		taken = now_ns() - begin;
	} while (taken < ms * 1000000);
	printf("{\"bench\": \"calls\", \"calls_s\": %.0f}\n", (double)made * 1e9 / (double)taken);
	return 0;
}
