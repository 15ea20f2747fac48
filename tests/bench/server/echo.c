/*
 * A byte typed into a terminal to its echo, which the terminal itself makes. Beside it stands lws_echo. With --floods N,
 * so many other sessions of the server flood meanwhile, each with a reader; with --bombs N, so many hold a fork bomb each, which
 * its limits bound.
 */
#include "flood.h"
#include "server.h"
#include "tests/bench/bare/measure.h"
#include "work.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { CHANNEL = 1, PROCESS = 1, MESSAGE_BYTES = 64, BOMB_SECONDS = 2 };

/* Output until the stream has END bytes. */
static void await_output(struct wire_client *client, uint64_t end)
{
	struct wire_frame frame;
	struct output_header output = {0};
	do {
		while (work_next_event(client, &frame) != FRAME_OUTPUT)
			;
		output_header_read(frame.bytes, frame.length, &output);
	} while (output.offset + output.length < end);
	if (output.offset + output.length > end) {
		fprintf(stderr, "more was written than was typed\n");
		exit(1);
	}
}

static uint64_t type_once(struct wire_client *client, struct writer *message, uint64_t typed, uint64_t written)
{
	writer_reset(message);
	writer_uint(message, CHANNEL);
	writer_array(message, 4);
	writer_uint(message, FRAME_STDIN);
	writer_uint(message, PROCESS);
	writer_uint(message, typed);
	writer_bin(message, "x", 1);
	uint64_t begin = now_ns();
	wire_client_send_message(client, message->data, message->length);
	await_output(client, written + 1);
	return now_ns() - begin;
}

/* Each process of it leads a session of its own: to the scheduler's groups, many users. */
static void start_bomb(struct wire_client *client)
{
	static const char *const bomb[] = {
		"perl", "-MPOSIX", "-e", "while (1) { my $child = fork; POSIX::setsid() if defined $child && !$child }", NULL};
	char session[SESSION_TEXT];
	work_create(client, session);
	work_start(client, session, bomb, false);
}

int main(int argc, char **argv)
{
	static const char *const typist[] = {"sh", "-c", "stty -icanon; printf r; exec cat >/dev/null", NULL};
	uint64_t runs = 2000, floods = 0, bombs = 0, tls = 0;
	const struct option_row options[] = {{"--runs", &runs, "how many bytes"},
	                                     {"--floods", &floods, "sessions that flood"},
	                                     {"--bombs", &bombs, "sessions with a fork bomb"},
	                                     {"--tls", &tls, "1: over TLS"},
	                                     {NULL, NULL, NULL}};
	struct samples samples;
	struct server server;
	struct wire_client client;
	struct writer message;
	char session[SESSION_TEXT];
	options_read(argc, argv, options);
	samples_init(&samples, runs);
	server_start(&server, &(struct server_options){.tls = tls});
	for (uint64_t i = 0; i < floods; i++)
		flood_start(&server);
	wire_client_open(&client, server.address, server.token);
	for (uint64_t i = 0; i < bombs; i++)
		start_bomb(&client);
	if (bombs > 0)
		sleep(BOMB_SECONDS);
	work_create(&client, session);
	work_attach(&client, session);
	work_start(&client, session, typist, true);
	await_output(&client, 1);
	writer_init(&message, MESSAGE_BYTES);
	for (uint64_t i = 0; i < runs; i++)
		samples_add(&samples, type_once(&client, &message, i, 1 + i));
	samples_print(&samples, "sandbar_echo");
	samples_finish(&samples);
	writer_finish(&message);
	wire_client_close(&client);
	return 0;
}
