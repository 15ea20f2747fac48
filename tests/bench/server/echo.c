/*
 * A byte typed into a terminal to its echo, which the terminal itself makes. Beside it stands lws_echo. With --floods N,
 * so many other sessions of the server flood meanwhile, each with a reader; with --bombs N, so many hold a fork bomb each, which
 * its limits bound.
 */
#include "flood.h"
#include "server.h"
#include "tests/bench/bare/measure.h"
#include "typist.h"
#include "work.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { PROCESS = 1, BOMB_SECONDS = 2 };

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
	uint64_t runs = 2000, floods = 0, bombs = 0, tls = 0;
	const struct option_row options[] = {{"--runs", &runs, "how many bytes"},
	                                     {"--floods", &floods, "sessions that flood"},
	                                     {"--bombs", &bombs, "sessions with a fork bomb"},
	                                     {"--tls", &tls, "1: over TLS"},
	                                     {NULL, NULL, NULL}};
	struct samples samples;
	struct server server;
	struct wire_client client;
	struct typist typist;
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
	typist_init(&typist, &client, session, PROCESS);
	typist_type(&typist, &samples, runs, 0);
	samples_print(&samples, "sandbar_echo");
	samples_finish(&samples);
	typist_finish(&typist);
	wire_client_close(&client);
	return 0;
}
