/*
 * What idle connections take of the gateway, all of them after hello: memory, and processor time for their pings and
 * time-outs. This process is their other end; it answers pings.
 */
#include "server.h"
#include "tests/bench/bare/measure.h"
#include "usage.h"
#include "wire_client.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>

enum { EVENTS = 256, SPARE_DESCRIPTORS = 100 };

/* As many as this process may have descriptors for. */
static uint64_t as_many(uint64_t wanted)
{
	uint64_t most = raise_descriptors() - SPARE_DESCRIPTORS;
	return wanted < most ? wanted : most;
}

/* Returns how many connections had something to say within TIMEOUT_MS. */
static int answer_some(int poll, int timeout_ms)
{
	struct epoll_event events[EVENTS];
	int count = epoll_wait(poll, events, EVENTS, timeout_ms);
	if (count < 0 && errno != EINTR)
		die("epoll_wait");
	for (int i = 0; i < count; i++)
		wire_client_pass_over(events[i].data.ptr);
	return count;
}

static void answer_pings(int poll, uint64_t until)
{
	for (uint64_t now; (now = now_ns()) < until;)
		answer_some(poll, (int)((until - now) / 1000000) + 1);
}

/* The first ones are pinged before the last ones have come. */
static void connect_all(struct wire_client *clients, uint64_t count, const struct server *server, int poll)
{
	for (uint64_t i = 0; i < count; i++) {
		struct epoll_event event = {.events = EPOLLIN, .data.ptr = &clients[i]};
		wire_client_open(&clients[i], server->address, server->token);
		if (epoll_ctl(poll, EPOLL_CTL_ADD, clients[i].link.socket, &event) != 0)
			die("epoll_ctl");
		while (i % EVENTS == 0 && answer_some(poll, 0) > 0)
			;
	}
}

int main(int argc, char **argv)
{
	uint64_t count = 10000, seconds = 20, tls = 0;
	const struct option_row options[] = {{"--connections", &count, "how many, if there are descriptors for them"},
	                                     {"--seconds", &seconds, "for how long they are watched"},
	                                     {"--tls", &tls, "1: they use TLS"},
	                                     {NULL, NULL, NULL}};
	struct server server;
	options_read(argc, argv, options);
	count = as_many(count);
	server_start(&server, &(struct server_options){.connections = count + 1, .tls = tls, .seconds = 140});
	struct wire_client *clients = calloc(count, sizeof *clients);
	int poll = epoll_create1(EPOLL_CLOEXEC);
	pid_t gateway = usage_gateway(server.pid);
	if (!clients || poll < 0 || gateway == 0)
		die("prepare the connections");
	uint64_t before = usage_resident_kib(gateway);
	connect_all(clients, count, &server, poll);
	uint64_t after = usage_resident_kib(gateway), cpu = usage_cpu_us(gateway), begin = now_ns();
	answer_pings(poll, begin + seconds * 1000000000u);
	double used = (double)(usage_cpu_us(gateway) - cpu) * 1e3 / (double)(now_ns() - begin);
	printf("{\"bench\": \"sandbar_connections\", \"connections\": %llu, \"each_kib\": %.2f, \"cpu_percent\": %.2f}\n",
	       (unsigned long long)count, ((double)after - (double)before) / (double)count, used * 100);
	for (uint64_t i = 0; i < count; i++)
		wire_client_close(&clients[i]);
	free(clients);
	return 0;
}
