/*
 * A sandbox: from the request session.create to the first byte that a command in it writes. The end of the session
 * is waited for, but not measured. Beside it stands bwrap. Cold, or from those that stand ready: then with a pause between
 * the sessions, in which another is built.
 */
#include "server.h"
#include "tests/bench/bare/measure.h"
#include "work.h"

#include <unistd.h>

static uint64_t first_byte_once(struct wire_client *client)
{
	static const char *const argv[] = {"/usr/bin/echo", "x", NULL};
	char session[SESSION_TEXT];
	struct wire_frame frame;
	uint64_t begin = now_ns();
	work_create(client, session);
	work_attach(client, session);
	work_start(client, session, argv, false);
	while (work_next_event(client, &frame) != FRAME_OUTPUT)
		;
	uint64_t taken = now_ns() - begin;
	work_end(client, session);
	return taken;
}

int main(int argc, char **argv)
{
	uint64_t runs = 100, warm = 0, pause_ms = 0;
	const struct option_row options[] = {{"--runs", &runs, "how often"},
	                                     {"--warm", &warm, "sandboxes that stand ready"},
	                                     {"--pause", &pause_ms, "milliseconds between two"},
	                                     {NULL, NULL, NULL}};
	struct samples samples;
	struct server server;
	struct wire_client client;
	options_read(argc, argv, options);
	samples_init(&samples, runs);
	server_start(&server, &(struct server_options){.warm = warm});
	wire_client_open(&client, server.address, server.token);
	for (uint64_t i = 0; i < runs; i++) {
		usleep((useconds_t)pause_ms * 1000);
		samples_add(&samples, first_byte_once(&client));
	}
	samples_print(&samples, "sandbar_create");
	samples_finish(&samples);
	wire_client_close(&client);
	return 0;
}
