/*
 * A process in a session that lives: from the request process.start of /bin/true to its EXITED, over a connection that is
 * attached to the session. Beside it stands spawn.
 */
#include "server.h"
#include "tests/bench/bare/measure.h"
#include "work.h"

enum { WARM_UP = 20 };

static uint64_t start_once(struct wire_client *client, const char *session)
{
	static const char *const argv[] = {"/bin/true", NULL};
	struct wire_frame frame;
	uint64_t begin = now_ns();
	work_start(client, session, argv, false);
	while (work_next_event(client, &frame) != FRAME_EXITED)
		;
	uint64_t taken = now_ns() - begin;
	work_check_exited(&frame);
	return taken;
}

int main(int argc, char **argv)
{
	uint64_t runs = 500;
	const struct option_row options[] = {{"--runs", &runs, "how often"}, {NULL, NULL, NULL}};
	struct samples samples;
	struct server server;
	struct wire_client client;
	char session[SESSION_TEXT];
	options_read(argc, argv, options);
	samples_init(&samples, runs);
	server_start(&server, NULL);
	wire_client_open(&client, server.address, server.token);
	work_create(&client, session);
	work_attach(&client, session);
	for (int i = 0; i < WARM_UP; i++)
		start_once(&client, session);
	for (uint64_t i = 0; i < runs; i++)
		samples_add(&samples, start_once(&client, session));
	samples_print(&samples, "sandbar_start");
	samples_finish(&samples);
	wire_client_close(&client);
	return 0;
}
