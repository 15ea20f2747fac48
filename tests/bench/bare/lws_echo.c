/*
 * The echo of one byte over WebSocket, bare: a libwebsockets server on a foreign libev loop, as the gateway has it, that
 * sends back each binary message; and a client of plain system calls in another process, which measures. With --serve it
 * only tells the server's port, for another client, until its stdin ends.
 */
#include "lws_server.h"
#include "measure.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MESSAGE_BYTES = 4096 };

struct echo {
	size_t length;
	unsigned char bytes[LWS_PRE + MESSAGE_BYTES];
};

static int keep(struct lws *wsi, struct echo *echo, const void *in, size_t length)
{
	if (length > MESSAGE_BYTES)
		return -1;
	memcpy(echo->bytes + LWS_PRE, in, length);
	echo->length = length;
	return lws_callback_on_writable(wsi) < 0 ? -1 : 0;
}

static int send_back(struct lws *wsi, struct echo *echo)
{
	int put = lws_write(wsi, echo->bytes + LWS_PRE, echo->length, LWS_WRITE_BINARY);
	return put < (int)echo->length ? -1 : 0;
}

static int on_event(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in, size_t length)
{
	if (reason == LWS_CALLBACK_RECEIVE)
		return keep(wsi, user, in, length);
	if (reason == LWS_CALLBACK_SERVER_WRITEABLE)
		return send_back(wsi, user);
	return lws_callback_http_dummy(wsi, reason, user, in, length);
}

static const struct lws_protocols PROTOCOLS[] = {
	{.name = "echo",
     .callback = on_event,
     .per_session_data_size = sizeof(struct echo),
     .rx_buffer_size = MESSAGE_BYTES},
	{.name = NULL},
};

/* One binary message of one byte, masked with zeros, and its echo: 82 01 and the byte. */
static uint64_t round_trip(int connection, unsigned char byte)
{
	const unsigned char message[] = {0x82, 0x81, 0, 0, 0, 0, byte};
	unsigned char echo[3];
	uint64_t begin = now_ns();
	if (write(connection, message, sizeof message) != sizeof message)
		die("write");
	if (recv(connection, echo, sizeof echo, MSG_WAITALL) != sizeof echo)
		die("the echo");
	uint64_t taken = now_ns() - begin;
	if (echo[0] != 0x82 || echo[1] != 1 || echo[2] != byte) {
		fprintf(stderr, "the echo was %02x %02x %02x\n", echo[0], echo[1], echo[2]);
		exit(1);
	}
	return taken;
}

static void wait_for_end(const char *address)
{
	char byte;
	printf("%s\n", strrchr(address, ':') + 1);
	fflush(stdout);
	while (read(STDIN_FILENO, &byte, 1) > 0) {
	}
}

static void measure(const char *address, uint64_t runs)
{
	struct samples samples;
	struct link link;
	samples_init(&samples, runs);
	lws_server_connect(&link, address, "echo");
	for (uint64_t i = 0; i < runs; i++)
		samples_add(&samples, round_trip(link.socket, (unsigned char)i));
	samples_print(&samples, "lws_echo");
	samples_finish(&samples);
	link_close(&link);
}

int main(int argc, char **argv)
{
	uint64_t runs = 2000, serves = 0;
	const struct option_row options[] = {{"--runs", &runs, "how many round trips"},
	                                     {"--serve", &serves, "1: serve another client, until stdin ends"},
	                                     {NULL, NULL, NULL}};
	char address[LWS_SERVER_ADDRESS];
	options_read(argc, argv, options);
	pid_t server = lws_server_start(&(struct lws_server_options){.protocols = PROTOCOLS}, address);
	if (serves)
		wait_for_end(address);
	else
		measure(address, runs);
	kill(server, SIGTERM);
	return 0;
}
