/*
 * Somebody joins: from the request to attach to a session in which vim stands drawn in a terminal, to its whole screen.
 */
#include "server.h"
#include "tests/bench/bare/measure.h"
#include "work.h"

#include <stdio.h>
#include <unistd.h>

enum { DRAWN_US = 2000000 };

struct join {
	uint64_t ns, bytes; /* of the frame SCREEN */
};

/* On a connection that is there, as a window of a page has it. */
static struct join join_once(struct wire_client *client, const char *session)
{
	struct wire_frame frame;
	struct reader reader;
	uint32_t count;
	uint64_t kind = 0;
	uint64_t begin = now_ns();
	writer_key_str(wire_client_request(client, "session.attach", 1), "session", session);
	wire_client_send(client);
	do {
		wire_client_next(client, &frame);
		reader = reader_over(frame.bytes, frame.length);
	} while (frame.channel == 0 || !reader_array(&reader, &count) || !reader_uint(&reader, &kind) ||
	         kind != FRAME_SCREEN);
	struct join join = {.ns = now_ns() - begin, .bytes = frame.length};
	writer_key_uint(wire_client_request(client, "session.detach", 1), "channel", frame.channel);
	wire_client_result(client, wire_client_send(client));
	return join;
}

int main(int argc, char **argv)
{
	static const char *const editor[] = {
		"sh", "-c",
		"seq -f 'static int function_%g(void) { return %g; } /* the number %g */' 500 > a.c; "
		"exec vim.basic -u NONE -N -n -i NONE -c 'syntax on' -c 'set number' a.c",
		NULL};
	uint64_t runs = 500;
	const struct option_row options[] = {{"--runs", &runs, "how often"}, {NULL, NULL, NULL}};
	struct samples samples;
	struct server server;
	struct wire_client client;
	struct join join = {0};
	char session[SESSION_TEXT];
	options_read(argc, argv, options);
	samples_init(&samples, runs);
	server_start(&server, NULL);
	wire_client_open(&client, server.address, server.token);
	work_create(&client, session);
	work_start(&client, session, editor, true);
	usleep(DRAWN_US);
	for (uint64_t i = 0; i < runs; i++) {
		join = join_once(&client, session);
		samples_add(&samples, join.ns);
	}
	if (join.bytes < 1000) {
		fprintf(stderr, "vim has drawn nothing\n");
		return 1;
	}
	printf("{\"bench\": \"sandbar_join\", \"bytes\": %llu, ", (unsigned long long)join.bytes);
	samples_write(&samples);
	printf("}\n");
	samples_finish(&samples);
	wire_client_close(&client);
	return 0;
}
