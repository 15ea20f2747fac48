#include "clients/c/command/json.h"

#include "protocol/wire.h"
#include "protocol/writer.h"

#include <criterion/criterion.h>
#include <stdlib.h>

static char *event_text(unsigned kind, const struct writer *frame)
{
	char *text;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	json_event(out, kind, frame->data, frame->length);
	fclose(out);
	return text;
}

static void begin_output(struct writer *frame)
{
	writer_reset(frame);
	writer_array(frame, 7);
	writer_uint(frame, FRAME_OUTPUT);
	writer_uint(frame, 9);
	writer_uint(frame, 1234);
	writer_uint(frame, 2);
	writer_uint(frame, STREAM_STDERR);
	writer_uint(frame, 17);
}

/* What a program reads from `sandbar logs --json`. */
Test(json, shows_output_as_text_or_base64)
{
	struct writer frame;

	writer_init(&frame, 4096);
	begin_output(&frame);
	writer_bin(&frame, "hi\n", 3);
	char *text = event_text(FRAME_OUTPUT, &frame);
	cr_expect_str_eq(text,
	                 "{\"event\": \"output\", \"seq\": 9, \"t\": 1234, \"process\": 2, \"stream\": \"stderr\", "
	                 "\"offset\": 17, \"text\": \"hi\\n\"}\n",
	                 "%s", text);
	free(text);
	begin_output(&frame);
	writer_bin(&frame, "\xff\xfe\xfd", 3);
	text = event_text(FRAME_OUTPUT, &frame);
	cr_expect_str_eq(text,
	                 "{\"event\": \"output\", \"seq\": 9, \"t\": 1234, \"process\": 2, \"stream\": \"stderr\", "
	                 "\"offset\": 17, \"base64\": \"//79\"}\n",
	                 "%s", text);
	free(text);
	writer_finish(&frame);
}

Test(json, joins_the_map_of_an_event)
{
	struct writer frame;

	writer_init(&frame, 4096);
	writer_array(&frame, 5);
	writer_uint(&frame, FRAME_EXITED);
	writer_uint(&frame, 3);
	writer_uint(&frame, 5);
	writer_uint(&frame, 1);
	writer_map(&frame, 4);
	writer_key_uint(&frame, "exit_code", 3);
	writer_key_nil(&frame, "signal");
	writer_str(&frame, "streams_open");
	writer_array(&frame, 1);
	writer_str(&frame, "stdout");
	writer_str(&frame, "argv");
	writer_bin(&frame, "\xff", 1);
	char *text = event_text(FRAME_EXITED, &frame);
	cr_expect_str_eq(
		text,
		"{\"event\": \"exited\", \"seq\": 3, \"t\": 5, \"process\": 1, \"exit_code\": 3, \"signal\": null, "
		"\"streams_open\": [\"stdout\"], \"argv\": {\"base64\": \"/w==\"}}\n",
		"%s", text);
	free(text);
	writer_finish(&frame);
}

Test(json, says_nothing_of_kinds_it_does_not_know)
{
	struct writer frame;

	writer_init(&frame, 64);
	writer_array(&frame, 1);
	writer_uint(&frame, 99);
	char *text = event_text(99, &frame);
	cr_expect_str_eq(text, "");
	free(text);
	writer_finish(&frame);
}
