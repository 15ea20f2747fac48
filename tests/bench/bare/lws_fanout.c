/*
 * Fan-out, bare: a libwebsockets server that sends one ready-made buffer to each of many clients, again as soon as it can be
 * written; the clients read, in another process. What it sends a second of its own processor time.
 */
#include "drain.h"
#include "lws_server.h"
#include "measure.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { BUFFER_MOST = 1 << 20, PACKET_BYTES = 128 * 1024, SETTLE_US = 300000 };

static unsigned char buffer[LWS_PRE + BUFFER_MOST];
static uint64_t bytes = 65536;

static int on_event(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in, size_t length)
{
	if (reason == LWS_CALLBACK_ESTABLISHED)
		return lws_callback_on_writable(wsi) < 0 ? -1 : 0;
	if (reason != LWS_CALLBACK_SERVER_WRITEABLE)
		return lws_callback_http_dummy(wsi, reason, user, in, length);
	if (lws_write(wsi, buffer + LWS_PRE, bytes, LWS_WRITE_BINARY) < (int)bytes)
		return -1;
	return lws_callback_on_writable(wsi) < 0 ? -1 : 0;
}

static const struct lws_protocols PROTOCOLS[] = {
	{.name = "fanout", .callback = on_event, .rx_buffer_size = 4096, .tx_packet_size = PACKET_BYTES},
	{.name = NULL},
};

int main(int argc, char **argv)
{
	uint64_t viewers = 10, seconds = 5;
	const struct option_row options[] = {{"--viewers", &viewers, "how many"},
	                                     {"--bytes", &bytes, "of a message"},
	                                     {"--seconds", &seconds, "for how long"},
	                                     {NULL, NULL, NULL}};
	int port = 0;
	options_read(argc, argv, options);
	bytes = bytes < BUFFER_MOST ? bytes : BUFFER_MOST;
	raise_descriptors();
	pid_t server = lws_server_start(PROTOCOLS, &port);
	int *sockets = calloc(viewers, sizeof *sockets);
	if (!sockets)
		die("memory for the clients");
	for (uint64_t i = 0; i < viewers; i++)
		sockets[i] = lws_server_connect(port, "fanout");
	struct drain *drain = drain_start(sockets, viewers);
	usleep(SETTLE_US);
	uint64_t before = drain_bytes(drain), cpu = cpu_ns(server), begin = now_ns();
	usleep((useconds_t)(seconds * 1000000));
	double used = (double)(cpu_ns(server) - cpu) / 1e9, taken = (double)(now_ns() - begin) / 1e9;
	double sent = (double)(drain_bytes(drain) - before);
	printf("{\"bench\": \"lws_fanout\", \"viewers\": %llu, \"mb_cpu_s\": %.1f, \"deliveries_cpu_s\": %.0f, "
	       "\"rate_mb_s\": %.1f}\n",
	       (unsigned long long)viewers, sent / 1e6 / used, sent / (double)bytes / used, sent / 1e6 / taken);
	drain_stop(drain);
	kill(server, SIGTERM);
	return 0;
}
