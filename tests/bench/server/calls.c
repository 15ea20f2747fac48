/*
 * How many of one system call a process in a session makes a second: bench_calls, which is sent into the session's workspace.
 * Beside it stands bench_calls on the host.
 */
#include "server.h"
#include "tests/bench/bare/measure.h"
#include "work.h"

#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PROGRAM_MOST = 1024 * 1024 };

static FILE *open_program(void)
{
	char path[PATH_MAX + 16] = "";
	if (readlink("/proc/self/exe", path, PATH_MAX) < 0)
		die("/proc/self/exe");
	strcpy(strrchr(path, '/'), "/bench_calls");
	FILE *file = fopen(path, "rb");
	if (!file)
		die(path);
	return file;
}

/* Ask for it to be run in SESSION with --call CALL; the id of the request. */
static uint32_t send_program(struct wire_client *client, const char *session, uint64_t call)
{
	static char program[PROGRAM_MOST];
	FILE *file = open_program();
	size_t length = fread(program, 1, sizeof program, file);
	char command[128];
	fclose(file);
	snprintf(command, sizeof command, "cat >calls && chmod 755 calls && exec ./calls --call %llu",
	         (unsigned long long)call);
	struct writer *request = wire_client_request(client, "process.run", 3);
	writer_key_str(request, "session", session);
	writer_str(request, "argv");
	writer_array(request, 3);
	writer_str(request, "sh");
	writer_str(request, "-c");
	writer_str(request, command);
	writer_str(request, "input");
	writer_bin(request, program, (uint32_t)length);
	return wire_client_send(client);
}

/* What it says is ours to say. */
static void pass_on(struct reader result)
{
	uint32_t count;
	struct view key, text;
	for (bool ok = reader_map(&result, &count); ok && count > 0; count--) {
		ok = reader_str(&result, &key);
		if (ok && view_equals(key, "stdout") && reader_bin(&result, &text))
			fwrite(text.data, 1, text.length, stdout);
		else
			ok = ok && reader_skip(&result);
	}
}

int main(int argc, char **argv)
{
	uint64_t call = 0;
	const struct option_row options[] = {{"--call", &call, "as of bench_calls"}, {NULL, NULL, NULL}};
	struct server server;
	struct wire_client client;
	char session[SESSION_TEXT];
	options_read(argc, argv, options);
	server_start(&server, NULL);
	wire_client_open(&client, server.address, server.token);
	work_create(&client, session);
	pass_on(wire_client_result(&client, send_program(&client, session, call)));
	wire_client_close(&client);
	return 0;
}
