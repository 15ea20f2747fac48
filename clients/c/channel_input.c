#include "channel.h"

#include "connection.h"
#include "decode.h"
#include "failure.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { STDIN_FRAME_BYTES = 64 * 1024, CREDIT_STEPS = 4 };

static void begin_frame(struct writer *message, const struct sandbar_channel *channel, uint32_t fields, unsigned kind)
{
	transport_message_begin(message);
	writer_uint(message, channel->number);
	writer_array(message, fields);
	writer_uint(message, kind);
}

static struct channel_input *find(const struct sandbar_channel *channel, uint32_t process)
{
	struct channel_input *row = channel->inputs;

	while (row && row->process != process)
		row = row->next;
	return row;
}

struct channel_input *channel_input_of(struct sandbar_channel *channel, uint32_t process)
{
	struct channel_input *row = find(channel, process);

	if (row)
		return row;
	row = calloc(1, sizeof(*row));
	if (!row)
		abort();
	row->process = process;
	input_init(&row->input);
	row->next = channel->inputs;
	return channel->inputs = row;
}

void channel_inputs_free(struct sandbar_channel *channel)
{
	while (channel->inputs) {
		struct channel_input *row = channel->inputs;
		channel->inputs = row->next;
		input_finish(&row->input);
		free(row);
	}
}

/* ---- Sending ---- */

static void send_stdin(struct sandbar_channel *channel, uint32_t process, uint64_t offset, const uint8_t *data,
                       size_t length)
{
	struct writer message;

	begin_frame(&message, channel, 4, FRAME_STDIN);
	writer_uint(&message, process);
	writer_uint(&message, offset);
	writer_bin(&message, data, length);
	connection_send(channel->sandbar, &message);
}

static void send_eof(struct sandbar_channel *channel, uint32_t process, uint64_t offset)
{
	struct writer message;

	begin_frame(&message, channel, 3, FRAME_EOF);
	writer_uint(&message, process);
	writer_uint(&message, offset);
	connection_send(channel->sandbar, &message);
}

static void send_size(struct sandbar_channel *channel, const struct channel_input *row)
{
	struct writer message;

	begin_frame(&message, channel, 4, FRAME_RESIZE);
	writer_uint(&message, row->process);
	writer_uint(&message, row->cols);
	writer_uint(&message, row->rows);
	connection_send(channel->sandbar, &message);
}

static void pump_row(struct sandbar_channel *channel, struct channel_input *row)
{
	const uint8_t *data;
	uint64_t offset;
	size_t length;

	while (transport_has_room(channel->sandbar->transport) &&
	       input_next(&row->input, STDIN_FRAME_BYTES, &offset, &data, &length))
		send_stdin(channel, row->process, offset, data, length);
	if (input_next_eof(&row->input, &offset))
		send_eof(channel, row->process, offset);
}

void channel_pump(struct sandbar_channel *channel)
{
	if (!channel->is_attached || channel->is_gone)
		return;
	for (struct channel_input *row = channel->inputs; row; row = row->next)
		pump_row(channel, row);
}

void channels_pump(struct sandbar *sandbar)
{
	for (struct sandbar_channel *channel = sandbar->channels; channel; channel = channel->next)
		channel_pump(channel);
}

static uint64_t now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

/* Bytes that may be granted beyond what is drawn. */
static uint64_t ahead(const struct sandbar_channel *channel)
{
	return channel->is_paced ? channel->pace.bound : channel->window;
}

uint64_t channel_first_grant(struct sandbar_channel *channel)
{
	pace_init(&channel->pace, channel->window);
	return ahead(channel) > channel->held ? ahead(channel) - channel->held : 0;
}

/* The grant follows what was received, less what is held; it is told in steps, not byte by byte. */
void channel_grant(struct sandbar_channel *channel)
{
	struct writer message;

	if (channel->is_paced && channel->received >= channel->held)
		pace_note(&channel->pace, channel->received - channel->held, now_us(), channel->held > 0);
	uint64_t grant = channel->received + (ahead(channel) > channel->held ? ahead(channel) - channel->held : 0);
	if (!channel->window || !channel->is_attached || grant < channel->granted + ahead(channel) / CREDIT_STEPS)
		return;
	channel->granted = grant;
	begin_frame(&message, channel, 2, FRAME_CREDIT);
	writer_uint(&message, grant);
	connection_send(channel->sandbar, &message);
}

/* ---- Resuming, and what the server refuses ---- */

static void report_lost(struct sandbar_channel *channel, struct channel_input *row, uint64_t asked)
{
	struct sandbar_error error;

	failure_set(&error, "stdin_lost",
	            "process %" PRIu32 ": the server asks for input from byte %" PRIu64 "; kept are %" PRIu64
	            " to %" PRIu64,
	            row->process, asked, row->input.base, row->input.end);
	input_stop(&row->input);
	channel_report(channel, row->process, &error);
}

static bool read_pair(struct reader *reader, uint64_t *process, uint64_t *offset)
{
	uint32_t count;

	return reader_array(reader, &count) && count >= 2 && reader_uint(reader, process) && reader_uint(reader, offset);
}

/* The offset accepted for PROCESS; false if the server does not list it. */
static bool accepted_of(struct reader list, uint32_t process, uint64_t *offset)
{
	uint32_t count;
	uint64_t number;

	if (!reader_array(&list, &count))
		return false;
	for (uint32_t i = 0; i < count; i++) {
		struct reader pair = list;
		reader_skip(&list);
		if (read_pair(&pair, &number, offset) && number == process)
			return true;
	}
	return false;
}

/* Processes that got input from an earlier channel of this client. */
static void adopt_earlier(struct sandbar_channel *channel, struct reader list)
{
	uint32_t count;
	uint64_t process, offset;

	if (!reader_array(&list, &count))
		return;
	for (uint32_t i = 0; i < count; i++) {
		struct reader pair = list;
		reader_skip(&list);
		if (read_pair(&pair, &process, &offset) && offset > 0 && !find(channel, (uint32_t)process))
			input_start_at(&channel_input_of(channel, (uint32_t)process)->input, offset);
	}
}

static void resume_row(struct sandbar_channel *channel, struct channel_input *row, struct reader list)
{
	uint64_t accepted = 0;

	if (row->cols)
		send_size(channel, row);
	if (row->input.stopped)
		return;
	bool listed = accepted_of(list, row->process, &accepted);
	if (!listed && row->input.base > 0)
		input_stop(&row->input); /* the process is not there any more; its EXITED says so */
	else if (!input_resume(&row->input, accepted))
		report_lost(channel, row, accepted);
}

void channel_resume_inputs(struct sandbar_channel *channel, struct reader *stdin_list)
{
	for (struct channel_input *row = channel->inputs; row; row = row->next)
		resume_row(channel, row, *stdin_list);
	adopt_earlier(channel, *stdin_list);
}

/* Somebody else types, or this participant may not: what he typed is dropped, and he is told. */
static bool drop_refused(struct sandbar_channel *channel, struct channel_input *row, struct reader data)
{
	uint64_t expected;

	if (decode_error_number(data, "expected", &expected) && input_refuse(&row->input, expected))
		channel_pump(channel);
	return false;
}

static bool go_on_from_expected(struct sandbar_channel *channel, struct channel_input *row, struct reader data)
{
	uint64_t expected;

	if (!decode_error_number(data, "expected", &expected))
		return false;
	if (row->input.refusals) {
		drop_refused(channel, row, data);
		return true;
	}
	if (!input_resume(&row->input, expected))
		report_lost(channel, row, expected);
	channel_pump(channel);
	return true;
}

static bool wait_for_window(struct sandbar_channel *channel, struct channel_input *row, struct reader data)
{
	uint64_t accepted;

	(void)channel;
	return decode_error_number(data, "accepted", &accepted) && input_wait_at(&row->input, accepted);
}

/* They may have arrived: sending them again could deliver them twice. The user is told. */
static bool go_on_after_doubt(struct sandbar_channel *channel, struct channel_input *row, struct reader data)
{
	uint64_t to;

	if (decode_error_number(data, "to", &to) && input_resume(&row->input, to))
		channel_pump(channel);
	return false;
}

static bool stop(struct sandbar_channel *channel, struct channel_input *row, struct reader data)
{
	(void)channel, (void)data;
	bool only_eof = row->input.eof && row->input.base == row->input.end;
	input_stop(&row->input);
	return only_eof; /* an end of input that was sent again after a cut */
}

static const struct refusal {
	const char *code;
	bool (*handle)(struct sandbar_channel *channel, struct channel_input *row, struct reader data);
} REFUSALS[] = {
	{"stdin_gap", go_on_from_expected},
	{"not_driver", drop_refused},
	{"forbidden", drop_refused},
	{"stdin_window", wait_for_window},
	{"stdin_unknown", go_on_after_doubt},
	{"stdin_closed", stop},
	{"process_exited", stop},
	{"no_stdin", stop},
};

bool channel_input_error(struct sandbar_channel *channel, uint32_t process, const struct sandbar_error *error,
                         struct reader data)
{
	struct channel_input *row = process ? find(channel, process) : NULL;

	for (size_t i = 0; row && i < sizeof(REFUSALS) / sizeof(REFUSALS[0]); i++)
		if (strcmp(REFUSALS[i].code, error->code) == 0)
			return REFUSALS[i].handle(channel, row, data);
	return false;
}

/* ---- The public side ---- */

void sandbar_channel_held(struct sandbar_channel *channel, uint64_t bytes)
{
	channel->held = bytes;
	channel_grant(channel);
}

size_t sandbar_input_room(struct sandbar_channel *channel, uint32_t process)
{
	return channel->was_attached && !channel->is_gone ? input_room(&channel_input_of(channel, process)->input) : 0;
}

size_t sandbar_input(struct sandbar_channel *channel, uint32_t process, const void *data, size_t length)
{
	if (!channel->was_attached || channel->is_gone)
		return 0;
	size_t taken = input_take(&channel_input_of(channel, process)->input, data, length);
	channel_pump(channel);
	return taken;
}

void sandbar_input_eof(struct sandbar_channel *channel, uint32_t process)
{
	input_end(&channel_input_of(channel, process)->input);
	channel_pump(channel);
}

bool sandbar_input_is_done(struct sandbar_channel *channel, uint32_t process)
{
	return input_is_done(&channel_input_of(channel, process)->input);
}

void sandbar_resize(struct sandbar_channel *channel, uint32_t process, uint32_t cols, uint32_t rows)
{
	struct channel_input *row = channel_input_of(channel, process);

	row->cols = cols;
	row->rows = rows;
	if (channel->is_attached && !channel->is_gone)
		send_size(channel, row);
}
