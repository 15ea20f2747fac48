#include "typist.h"

#include "work.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { CHANNEL = 1, MESSAGE_BYTES = 64 };

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

/* Its first byte of output says that it is there; then each typed byte is one more. */
static uint64_t type_once(struct typist *typist)
{
	struct writer *message = &typist->message;
	writer_reset(message);
	writer_uint(message, CHANNEL);
	writer_array(message, 4);
	writer_uint(message, FRAME_STDIN);
	writer_uint(message, typist->process);
	writer_uint(message, typist->typed++);
	writer_bin(message, "x", 1);
	uint64_t begin = now_ns();
	wire_client_send_message(typist->client, message->data, message->length);
	await_output(typist->client, typist->typed + 1);
	return now_ns() - begin;
}

void typist_init(struct typist *typist, struct wire_client *client, const char *session, uint64_t process)
{
	static const char *const program[] = {"sh", "-c", "stty -icanon; printf r; exec cat >/dev/null", NULL};
	*typist = (struct typist){.client = client, .process = process};
	writer_init(&typist->message, MESSAGE_BYTES);
	work_start(client, session, program, true);
	await_output(client, 1);
}

void typist_finish(struct typist *typist)
{
	writer_finish(&typist->message);
}

void typist_type(struct typist *typist, struct samples *samples, uint64_t runs, uint64_t pause_us)
{
	for (uint64_t i = 0; i < runs; i++) {
		samples_add(samples, type_once(typist));
		if (pause_us > 0)
			usleep((useconds_t)pause_us);
	}
}
