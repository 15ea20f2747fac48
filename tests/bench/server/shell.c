/*
 * A command in a warm shell: from the request shell.run of `:` to its answer. Beside it stands spawn, which is what a
 * command costs that gets a process of its own.
 */
#include "server.h"
#include "tests/bench/bare/measure.h"
#include "work.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WARM_UP = 20 };

static uint64_t find_process(struct reader result)
{
	uint32_t count;
	uint64_t process = 0;
	struct view key;
	for (bool ok = reader_map(&result, &count); ok && count > 0; count--) {
		ok = reader_str(&result, &key);
		if (ok && view_equals(key, "process"))
			ok = reader_uint(&result, &process);
		else
			ok = ok && reader_skip(&result);
	}
	return process;
}

static uint64_t start_shell(struct wire_client *client, const char *session)
{
	struct writer *request = wire_client_request(client, "shell.start", 1);
	writer_key_str(request, "session", session);
	uint64_t process = find_process(wire_client_result(client, wire_client_send(client)));
	if (process == 0) {
		fprintf(stderr, "there is no shell\n");
		exit(1);
	}
	return process;
}

static uint64_t run_once(struct wire_client *client, const char *session, uint64_t process)
{
	uint64_t begin = now_ns();
	struct writer *request = wire_client_request(client, "shell.run", 3);
	writer_key_str(request, "session", session);
	writer_key_uint(request, "process", process);
	writer_key_str(request, "command", ":");
	wire_client_result(client, wire_client_send(client));
	return now_ns() - begin;
}

int main(int argc, char **argv)
{
	uint64_t runs = 2000;
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
	uint64_t process = start_shell(&client, session);
	for (int i = 0; i < WARM_UP; i++)
		run_once(&client, session, process);
	for (uint64_t i = 0; i < runs; i++)
		samples_add(&samples, run_once(&client, session, process));
	samples_print(&samples, "sandbar_shell");
	samples_finish(&samples);
	wire_client_close(&client);
	return 0;
}
