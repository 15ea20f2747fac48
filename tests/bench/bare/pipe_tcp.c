/*
 * A flood through pipes, bare: a program writes into a pipe, a loop of read and write carries the bytes to a TCP
 * connection on loopback, and another process reads them to the end. A program named after `--` is run instead; --bytes
 * then says how many it writes.
 */
#include "measure.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BLOCK_BYTES = 65536, PIPE_BYTES = 1 << 20 };

static char block[BLOCK_BYTES];

static int listen_on_loopback(struct sockaddr_in *address)
{
	socklen_t length = sizeof *address;
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	*address = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	if (listener < 0 || bind(listener, (struct sockaddr *)address, length) != 0 || listen(listener, 1) != 0 ||
	    getsockname(listener, (struct sockaddr *)address, &length) != 0)
		die("a listener on loopback");
	return listener;
}

/* The reading end: leaves with 0 if exactly BYTES came. */
static pid_t start_reader(const struct sockaddr_in *address, uint64_t bytes)
{
	pid_t pid = fork();
	if (pid < 0)
		die("fork");
	if (pid > 0)
		return pid;
	int connection = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (connect(connection, (const struct sockaddr *)address, sizeof *address) != 0)
		die("connect");
	uint64_t total = 0;
	ssize_t got;
	while ((got = read(connection, block, sizeof block)) > 0)
		total += (uint64_t)got;
	_exit(got == 0 && total == bytes ? 0 : 1);
}

static void write_all(int to, size_t length)
{
	for (size_t done = 0; done < length;) {
		ssize_t put = write(to, block + done, length - done);
		if (put < 0)
			die("write to the connection");
		done += (size_t)put;
	}
}

static void relay(int from, int to)
{
	ssize_t got;
	while ((got = read(from, block, sizeof block)) > 0)
		write_all(to, (size_t)got);
	if (got < 0)
		die("read from the pipe");
}

static uint64_t flood(char *const *program, uint64_t bytes)
{
	struct sockaddr_in address;
	int listener = listen_on_loopback(&address);
	pid_t reader = start_reader(&address, bytes);
	int connection = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	int ends[2];
	if (connection < 0 || pipe2(ends, O_CLOEXEC) != 0)
		die("the connection and the pipe");
	fcntl(ends[1], F_SETPIPE_SZ, PIPE_BYTES); /* where the host allows it */
	uint64_t begin = now_ns();
	pid_t writer = start(program, ends[1], 0);
	close(ends[1]);
	relay(ends[0], connection);
	close(connection);
	wait_for(reader);
	uint64_t taken = now_ns() - begin;
	wait_for(writer);
	close(ends[0]);
	close(listener);
	return taken;
}

int main(int argc, char **argv)
{
	uint64_t bytes = UINT64_C(1) << 30;
	const struct option_row options[] = {{"--bytes", &bytes, "how many"}, {NULL, NULL, NULL}};
	char count[24];
	char *head[] = {"head", "-c", count, "/dev/zero", NULL};
	int first = options_read(argc, argv, options);
	snprintf(count, sizeof count, "%llu", (unsigned long long)bytes);
	rate_print("pipe_tcp", bytes, flood(first < argc ? argv + first : head, bytes));
	return 0;
}
