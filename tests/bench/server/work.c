#include "work.h"

#include "tests/bench/bare/measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 80, ROWS = 24 };

/* The next entry of a map, of which READER then stands before the value. */
static bool find_key(struct reader *reader, const char *key)
{
	uint32_t count;
	struct view name;
	if (!reader_map(reader, &count))
		return false;
	for (; count > 0 && reader_str(reader, &name); count--) {
		if (view_equals(name, key))
			return true;
		reader_skip(reader);
	}
	return false;
}

void work_read_session(struct reader *result, char session[SESSION_TEXT])
{
	struct view id;
	if (!find_key(result, "session") || !reader_str(result, &id) || id.length >= SESSION_TEXT)
		die("the answer to session.create");
	memcpy(session, id.data, id.length);
	session[id.length] = '\0';
}

void work_create(struct wire_client *client, char session[SESSION_TEXT])
{
	wire_client_request(client, "session.create", 0);
	struct reader result = wire_client_result(client, wire_client_send(client));
	work_read_session(&result, session);
}

void work_end(struct wire_client *client, const char *session)
{
	writer_key_str(wire_client_request(client, "session.end", 1), "session", session);
	wire_client_result(client, wire_client_send(client));
}

void work_attach(struct wire_client *client, const char *session)
{
	struct writer *request = wire_client_request(client, "session.attach", 2);
	writer_key_str(request, "session", session);
	writer_key_str(request, "mode", "lossless");
	wire_client_send(client);
}

void work_start(struct wire_client *client, const char *session, const char *const *argv, bool terminal)
{
	uint32_t count = 0;
	while (argv[count])
		count++;
	struct writer *request = wire_client_request(client, "process.start", terminal ? 3 : 2);
	writer_key_str(request, "session", session);
	writer_str(request, "argv");
	writer_array(request, count);
	for (uint32_t i = 0; i < count; i++)
		writer_str(request, argv[i]);
	if (terminal) {
		writer_str(request, "terminal");
		writer_map(request, 2);
		writer_key_uint(request, "cols", COLUMNS);
		writer_key_uint(request, "rows", ROWS);
	}
	wire_client_send(client);
}

uint64_t work_terminal_offset(struct wire_client *client, const char *session)
{
	uint32_t count;
	uint64_t offset;
	writer_key_str(wire_client_request(client, "process.list", 1), "session", session);
	struct reader result = wire_client_result(client, wire_client_send(client));
	if (!find_key(&result, "processes") || !reader_array(&result, &count) || count == 0 ||
	    !find_key(&result, "offsets") || !find_key(&result, "tty") || !reader_uint(&result, &offset))
		die("the answer to process.list");
	return offset;
}

uint32_t work_next_event(struct wire_client *client, struct wire_frame *frame)
{
	uint32_t kind;
	uint64_t seq, t_us;
	do {
		wire_client_next(client, frame);
	} while (frame->channel == 0 || !event_head_read(frame->bytes, frame->length, &kind, &seq, &t_us));
	return kind;
}

void work_check_exited(const struct wire_frame *frame)
{
	struct reader reader = reader_over(frame->bytes, frame->length);
	uint32_t count;
	uint64_t code = 1;
	reader_array(&reader, &count);
	for (int i = 0; i < 4; i++) /* kind, seq, t, process */
		reader_skip(&reader);
	if (find_key(&reader, "exit_code") && reader_uint(&reader, &code) && code == 0)
		return;
	fprintf(stderr, "the program in the sandbox left with %llu\n", (unsigned long long)code);
	exit(1);
}

static uint64_t read_all(struct wire_client *client)
{
	uint64_t total = 0;
	struct wire_frame frame;
	uint32_t kind;
	while ((kind = work_next_event(client, &frame)) != FRAME_EXITED) {
		struct output_header output;
		if (kind != FRAME_OUTPUT)
			continue;
		if (!output_header_read(frame.bytes, frame.length, &output) || output.offset != total) {
			fprintf(stderr, "output does not go on at %llu\n", (unsigned long long)total);
			exit(1);
		}
		total += output.length;
	}
	work_check_exited(&frame);
	return total;
}

uint64_t work_flood(const char *const *argv, bool terminal, uint64_t bytes, const struct server_options *options)
{
	struct server server;
	struct wire_client client;
	char session[SESSION_TEXT];
	server_start(&server, options);
	wire_client_open(&client, server.address, server.token);
	work_create(&client, session);
	work_attach(&client, session);
	uint64_t begin = now_ns();
	work_start(&client, session, argv, terminal);
	uint64_t total = read_all(&client), taken = now_ns() - begin;
	if (total != bytes) {
		fprintf(stderr, "%llu bytes came, %llu were expected\n", (unsigned long long)total, (unsigned long long)bytes);
		exit(1);
	}
	wire_client_close(&client);
	return taken;
}
