/*
 * ^C under a flood, at a terminal that draws slowly: from the key to the prompt being drawn. As PROTOCOL.md §4.4 has it for
 * terminals, the client grants what it has drawn and what it draws in 20 ms.
 */
#include "protocol/pace.h"
#include "server.h"
#include "tests/bench/bare/measure.h"
#include "work.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { STEP = 1024, AHEAD_MOST = 65536, CHANNEL = 1, PROCESS = 1, MESSAGE_BYTES = 64, TAIL = 16 };
enum { FLOOD_NS = 500000000 };

static const char PROMPT[] = "prompt>";

struct drawer {
	struct wire_client client;
	struct writer message;
	uint64_t rate;           /* bytes a second */
	struct pace pace;        /* what it grants beyond what is drawn */
	uint64_t drawn, granted; /* bytes of frames */
	uint64_t free_at;        /* when what was taken so far is drawn */
	uint64_t typed;
	char tail[TAIL]; /* the newest bytes */
};

static void client_frame(struct drawer *drawer, unsigned kind, uint32_t fields)
{
	writer_reset(&drawer->message);
	writer_uint(&drawer->message, CHANNEL);
	writer_array(&drawer->message, 1 + fields);
	writer_uint(&drawer->message, kind);
}

static void send_frame(struct drawer *drawer)
{
	wire_client_send_message(&drawer->client, drawer->message.data, drawer->message.length);
}

static void grant(struct drawer *drawer)
{
	pace_note(&drawer->pace, drawer->drawn, now_ns() / 1000, true);
	if (drawer->drawn + drawer->pace.bound < drawer->granted + STEP)
		return;
	drawer->granted = drawer->drawn + drawer->pace.bound;
	client_frame(drawer, FRAME_CREDIT, 1);
	writer_uint(&drawer->message, drawer->granted);
	send_frame(drawer);
}

static void type(struct drawer *drawer, const char *keys)
{
	client_frame(drawer, FRAME_STDIN, 3);
	writer_uint(&drawer->message, PROCESS);
	writer_uint(&drawer->message, drawer->typed);
	writer_bin(&drawer->message, keys, strlen(keys));
	drawer->typed += strlen(keys);
	send_frame(drawer);
}

static void sleep_until(uint64_t ns)
{
	const struct timespec until = {.tv_sec = (time_t)(ns / 1000000000u), .tv_nsec = (long)(ns % 1000000000u)};
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
}

/* Takes as long as LENGTH bytes take at its rate, after what it drew before. */
static void draw(struct drawer *drawer, size_t length)
{
	uint64_t now = now_ns();
	if (drawer->free_at < now)
		drawer->free_at = now;
	for (size_t step; length > 0; length -= step) {
		step = length < STEP ? length : STEP;
		drawer->free_at += step * 1000000000u / drawer->rate;
		sleep_until(drawer->free_at);
		drawer->drawn += step;
		grant(drawer);
	}
}

static void draw_next(struct drawer *drawer)
{
	struct wire_frame frame;
	struct output_header output;
	uint32_t kind = work_next_event(&drawer->client, &frame);
	size_t length = frame.length;
	if (kind == FRAME_EXITED) {
		fprintf(stderr, "the shell left\n");
		exit(1);
	}
	if (kind == FRAME_OUTPUT && output_header_read(frame.bytes, frame.length, &output)) {
		size_t new = output.length < TAIL ? output.length : TAIL;
		memmove(drawer->tail, drawer->tail + new, TAIL - new);
		memcpy(drawer->tail + TAIL - new, frame.bytes + OUTPUT_HEADER_BYTES + output.length - new, new);
	}
	draw(drawer, length);
}

static void await_prompt(struct drawer *drawer)
{
	while (!memmem(drawer->tail, TAIL, PROMPT, sizeof PROMPT - 1))
		draw_next(drawer);
	memset(drawer->tail, 0, TAIL);
}

static uint64_t interrupt_once(struct drawer *drawer)
{
	type(drawer, "yes 0123456789abcde\n");
	for (uint64_t until = now_ns() + FLOOD_NS; now_ns() < until;)
		draw_next(drawer);
	memset(drawer->tail, 0, TAIL);
	uint64_t begin = now_ns();
	type(drawer, "\003");
	await_prompt(drawer);
	return now_ns() - begin;
}

static void open_shell(struct drawer *drawer, const struct server *server, bool lossless)
{
	static const char *const shell[] = {"env",         "PS1=prompt>", "TERM=dumb", "bash", "--norc",
	                                    "--noprofile", "--noediting", "-i",        NULL};
	char session[SESSION_TEXT];
	wire_client_open(&drawer->client, server->address, server->token);
	work_create(&drawer->client, session);
	struct writer *request = wire_client_request(&drawer->client, "session.attach", 3);
	writer_key_str(request, "session", session);
	writer_key_str(request, "mode", lossless ? "lossless" : "live");
	writer_key_uint(request, "credit", drawer->granted);
	wire_client_send(&drawer->client);
	work_start(&drawer->client, session, shell, true);
	await_prompt(drawer);
}

int main(int argc, char **argv)
{
	uint64_t runs = 10, rate = 1000000, ahead = AHEAD_MOST, lossless = 1;
	const struct option_row options[] = {{"--runs", &runs, "how often"},
	                                     {"--rate", &rate, "bytes that it draws a second"},
	                                     {"--ahead", &ahead, "most bytes granted beyond what is drawn"},
	                                     {"--lossless", &lossless, "0: a live channel"},
	                                     {NULL, NULL, NULL}};
	struct samples samples;
	struct server server;
	options_read(argc, argv, options);
	struct drawer drawer = {.rate = rate};
	pace_init(&drawer.pace, ahead);
	drawer.granted = drawer.pace.bound;
	samples_init(&samples, runs);
	writer_init(&drawer.message, MESSAGE_BYTES);
	server_start(&server, NULL);
	open_shell(&drawer, &server, lossless);
	for (uint64_t i = 0; i < runs; i++)
		samples_add(&samples, interrupt_once(&drawer));
	samples_print(&samples, "sandbar_interrupt");
	samples_finish(&samples);
	writer_finish(&drawer.message);
	wire_client_close(&drawer.client);
	return 0;
}
