/*
 * The end of a session in which a process runs: from the request session.end to its answer, which comes when nothing of it is left.
 */
#include "server.h"
#include "tests/bench/bare/measure.h"
#include "work.h"

static uint64_t end_once(struct wire_client *client)
{
	static const char *const argv[] = {"sleep", "1000", NULL};
	char session[SESSION_TEXT];
	struct wire_frame frame;
	work_create(client, session);
	work_attach(client, session);
	work_start(client, session, argv, false);
	while (work_next_event(client, &frame) != FRAME_STARTED)
		;
	uint64_t begin = now_ns();
	work_end(client, session);
	return now_ns() - begin;
}

int main(int argc, char **argv)
{
	uint64_t runs = 200;
	const struct option_row options[] = {{"--runs", &runs, "how often"}, {NULL, NULL, NULL}};
	struct samples samples;
	struct server server;
	struct wire_client client;
	options_read(argc, argv, options);
	samples_init(&samples, runs);
	server_start(&server, NULL);
	wire_client_open(&client, server.address, server.token);
	for (uint64_t i = 0; i < runs; i++)
		samples_add(&samples, end_once(&client));
	samples_print(&samples, "sandbar_end");
	samples_finish(&samples);
	wire_client_close(&client);
	return 0;
}
