/*
 * What idle sessions take: the PSS of their processes, how much the server grew, and how much less memory the machine
 * had left afterwards, which counts the kernel's share too.
 */
#include "server.h"
#include "tests/bench/bare/measure.h"
#include "usage.h"
#include "work.h"

#include <stdio.h>
#include <unistd.h>

enum { SETTLE_US = 2000000 };

static double each(uint64_t before, uint64_t after, uint64_t count)
{
	return ((double)after - (double)before) / (double)count;
}

int main(int argc, char **argv)
{
	uint64_t sessions = 1000;
	const struct option_row options[] = {{"--sessions", &sessions, "how many"}, {NULL, NULL, NULL}};
	struct server server;
	struct wire_client client;
	char session[SESSION_TEXT];
	options_read(argc, argv, options);
	server_start(&server, &(struct server_options){.sessions = sessions + 1, .seconds = 140});
	wire_client_open(&client, server.address, server.token);
	work_create(&client, session); /* what only the first one costs */
	usleep(SETTLE_US);
	struct usage before = usage_of_server(server.pid);
	uint64_t available = usage_available_kib(), begin = now_ns();
	for (uint64_t i = 0; i < sessions; i++)
		work_create(&client, session);
	double seconds = (double)(now_ns() - begin) / 1e9;
	usleep(SETTLE_US);
	uint64_t left = usage_available_kib();
	struct usage after = usage_of_server(server.pid);
	printf("{\"bench\": \"sandbar_idle\", \"sessions\": %llu, \"processes\": %.2f, \"sandbox_kib\": %.1f, "
	       "\"server_kib\": %.1f, \"machine_kib\": %.1f, \"all_mib\": %.1f, \"created_s\": %.1f}\n",
	       (unsigned long long)sessions, each(before.processes, after.processes, sessions),
	       each(before.sandboxes_kib, after.sandboxes_kib, sessions),
	       each(before.server_kib, after.server_kib, sessions), each(left, available, sessions),
	       each(before.sandboxes_kib + before.server_kib, after.sandboxes_kib + after.server_kib, 1024),
	       (double)sessions / seconds);
	wire_client_close(&client);
	return 0;
}
