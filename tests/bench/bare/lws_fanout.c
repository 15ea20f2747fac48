/*
 * Fan-out, bare: a libwebsockets server that sends one ready-made buffer to each of many clients, so many microseconds apart or
 * again as soon as it can be written; the clients read, in another process. What it sends a second of its own processor time.
 */
#include "drain.h"
#include "lws_server.h"
#include "measure.h"

#include <ev.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum { BUFFER_MOST = 1 << 20, PACKET_BYTES = 128 * 1024, SETTLE_US = 300000 };

static unsigned char buffer[LWS_PRE + BUFFER_MOST];
static uint64_t bytes = 65536, apart_us;

static int on_event(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in, size_t length)
{
	bool is_next = reason == LWS_CALLBACK_SERVER_WRITEABLE;
	if (is_next && lws_write(wsi, buffer + LWS_PRE, bytes, LWS_WRITE_BINARY) < (int)bytes)
		return -1;
	if ((reason == LWS_CALLBACK_ESTABLISHED || is_next) && apart_us == 0)
		return lws_callback_on_writable(wsi) < 0 ? -1 : 0;
	return is_next ? 0 : lws_callback_http_dummy(wsi, reason, user, in, length);
}

static const struct lws_protocols PROTOCOLS[] = {
	{.name = "fanout", .callback = on_event, .rx_buffer_size = 4096, .tx_packet_size = PACKET_BYTES},
	{.name = NULL},
};

static void on_tick(struct ev_loop *loop, ev_io *io, int events)
{
	(void)loop, (void)events;
	uint64_t expirations;
	if (read(io->fd, &expirations, sizeof expirations) == sizeof expirations)
		lws_callback_on_writable_all_protocol(io->data, &PROTOCOLS[0]);
}

/* A timer of its own: those of the loop are as coarse as epoll_wait(2). */
static void begin_rounds(struct ev_loop *loop, struct lws_context *context)
{
	static ev_io tick;
	if (apart_us == 0)
		return;
	struct timespec apart = {(time_t)(apart_us / 1000000), (long)(apart_us % 1000000) * 1000};
	int timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	if (timer < 0 || timerfd_settime(timer, 0, &(struct itimerspec){apart, apart}, NULL) < 0)
		die("a timer");
	ev_io_init(&tick, on_tick, timer, EV_READ);
	tick.data = context;
	ev_io_start(loop, &tick);
}

static int *connect_all(const char *address, uint64_t count)
{
	int *sockets = calloc(count, sizeof *sockets);
	if (!sockets)
		die("memory for the clients");
	for (uint64_t i = 0; i < count; i++) {
		struct link link;
		lws_server_connect(&link, address, "fanout");
		sockets[i] = link.socket;
	}
	return sockets;
}

int main(int argc, char **argv)
{
	uint64_t viewers = 10, seconds = 5, tls = 0;
	const struct option_row options[] = {{"--viewers", &viewers, "how many"},
	                                     {"--bytes", &bytes, "of a message"},
	                                     {"--apart", &apart_us, "microseconds between two of them; 0: none"},
	                                     {"--seconds", &seconds, "for how long"},
	                                     {"--tls", &tls, "1: over TLS"},
	                                     {NULL, NULL, NULL}};
	char address[LWS_SERVER_ADDRESS];
	options_read(argc, argv, options);
	bytes = bytes < BUFFER_MOST ? bytes : BUFFER_MOST;
	raise_descriptors();
	pid_t server = lws_server_start(
		&(struct lws_server_options){.protocols = PROTOCOLS, .prepare = begin_rounds, .tls = tls}, address);
	struct drain *drain = drain_start(connect_all(address, viewers), viewers, tls ? DRAIN_RECORDS : DRAIN_MESSAGES);
	usleep(SETTLE_US);
	uint64_t before = drain_bytes(drain), units = drain_units(drain), cpu = cpu_ns(server), begin = now_ns();
	usleep((useconds_t)(seconds * 1000000));
	double used = (double)(cpu_ns(server) - cpu) / 1e9, taken = (double)(now_ns() - begin) / 1e9;
	double sent = (double)(drain_bytes(drain) - before);
	printf("{\"bench\": \"lws_fanout\", \"viewers\": %llu, \"mb_cpu_s\": %.1f, \"deliveries_cpu_s\": %.0f, "
	       "\"rate_mb_s\": %.1f}\n",
	       (unsigned long long)viewers, sent / 1e6 / used, (double)(drain_units(drain) - units) / used,
	       sent / 1e6 / taken);
	drain_stop(drain);
	kill(server, SIGTERM);
	return 0;
}
