#include "channel.h"

#include "connection.h"
#include "decode.h"
#include "failure.h"
#include "sharing.h"
#include "protocol/frame.h"

#include <inttypes.h>
#include <string.h>

struct frame {
	unsigned kind;
	uint64_t seq, t_us;   /* of an event; else 0 */
	struct reader fields; /* after the kind, or after seq and t */
	const uint8_t *bytes; /* the whole frame */
	size_t length;
};

static void report_offset(struct sandbar_channel *channel, uint32_t process, unsigned stream, uint64_t expected,
                          uint64_t found)
{
	struct sandbar_error error;

	failure_set(&error, "stream_offset",
	            "process %" PRIu32 ", %s: what comes next must stand at byte %" PRIu64 ", and the server says %" PRIu64,
	            process, stream_name(stream), expected, found);
	channel_report(channel, process, &error);
}

static void check_offset(struct sandbar_channel *channel, uint32_t process, unsigned stream, uint64_t offset,
                         uint64_t length)
{
	uint64_t expected;

	if (!channel_follows(channel, process))
		return;
	bool known = offsets_next(&channel->offsets, process, stream, &expected);
	if (!offsets_advance(&channel->offsets, process, stream, offset, length) && known)
		report_offset(channel, process, stream, expected, offset);
}

/* ---- One function for each kind. False: the frame is not of the form that sandbar.v1 gives it. ---- */

static bool on_output(struct sandbar_channel *channel, struct frame *frame)
{
	struct output_header header;
	struct sandbar_output output;
	struct view bytes;

	if (output_header_read(frame->bytes, frame->length, &header) &&
	    header.length == frame->length - OUTPUT_HEADER_BYTES) {
		output = (struct sandbar_output){frame->seq,    frame->t_us,   header.process,
		                                 header.stream, header.offset, frame->bytes + OUTPUT_HEADER_BYTES,
		                                 header.length};
	} else {
		uint64_t stream, offset;
		uint32_t process;
		if (!sharing_u32(&frame->fields, &process) || !reader_uint(&frame->fields, &stream) || stream > SANDBAR_TTY ||
		    !reader_uint(&frame->fields, &offset) || !reader_bin(&frame->fields, &bytes))
			return false;
		output = (struct sandbar_output){frame->seq, frame->t_us, process,     (enum sandbar_stream)stream,
		                                 offset,     bytes.data,  bytes.length};
	}
	check_offset(channel, output.process, output.stream, output.offset, output.length);
	if (channel->events->output)
		channel->events->output(channel, &output, channel->user);
	return true;
}

static bool read_size(struct reader *reader, void *into);

static const struct decode_key STARTED_KEYS[] = {{"terminal", read_size}, {NULL, NULL}};

#define SIZE_FIELD(field)                                                     \
	static bool read_##field(struct reader *reader, void *into)               \
	{                                                                         \
		return sharing_u32(reader, &((struct sandbar_started *)into)->field); \
	}

SIZE_FIELD(cols)
SIZE_FIELD(rows)

static const struct decode_key SIZE_KEYS[] = {{"cols", read_cols}, {"rows", read_rows}, {NULL, NULL}};

static bool read_size(struct reader *reader, void *into)
{
	return decode_map(reader, SIZE_KEYS, into);
}

static bool on_started(struct sandbar_channel *channel, struct frame *frame)
{
	struct sandbar_started started = {.seq = frame->seq, .t_us = frame->t_us};

	if (!sharing_u32(&frame->fields, &started.process))
		return false;
	const uint8_t *map = frame->fields.at;
	if (!decode_map(&frame->fields, STARTED_KEYS, &started))
		return false;
	started.map = map;
	started.map_length = (size_t)(frame->fields.at - map);
	if (channel_follows(channel, started.process))
		offsets_start(&channel->offsets, started.process);
	if (channel->events->started)
		channel->events->started(channel, &started, channel->user);
	return true;
}

static void check_final_offsets(struct sandbar_channel *channel, uint32_t process, const struct sandbar_ending *ending)
{
	uint64_t expected;

	for (unsigned stream = 0; stream < SANDBAR_STREAMS; stream++) {
		if (!channel->screens && ending->has_offset[stream] &&
		    offsets_next(&channel->offsets, process, stream, &expected) && expected != ending->offsets[stream])
			report_offset(channel, process, stream, expected, ending->offsets[stream]);
		if (!ending->open[stream])
			offsets_close(&channel->offsets, process, stream);
	}
}

static bool on_exited(struct sandbar_channel *channel, struct frame *frame)
{
	struct sandbar_ending ending;
	uint32_t process;

	if (!sharing_u32(&frame->fields, &process) || !decode_ending(&frame->fields, &ending))
		return false;
	check_final_offsets(channel, process, &ending);
	for (struct channel_input *row = channel->inputs; row; row = row->next)
		if (row->process == process)
			input_stop(&row->input);
	if (channel->events->exited)
		channel->events->exited(channel, process, &ending, channel->user);
	return true;
}

static bool on_stream_closed(struct sandbar_channel *channel, struct frame *frame)
{
	uint32_t process;
	uint64_t stream, offset, expected;

	if (!sharing_u32(&frame->fields, &process) || !reader_uint(&frame->fields, &stream) ||
	    !reader_uint(&frame->fields, &offset) || stream > SANDBAR_TTY)
		return false;
	if (offsets_next(&channel->offsets, process, (unsigned)stream, &expected) && expected != offset)
		report_offset(channel, process, (unsigned)stream, expected, offset);
	offsets_close(&channel->offsets, process, (unsigned)stream);
	return true;
}

static bool on_resized(struct sandbar_channel *channel, struct frame *frame)
{
	uint32_t process, cols, rows;

	if (!sharing_u32(&frame->fields, &process) || !sharing_u32(&frame->fields, &cols) ||
	    !sharing_u32(&frame->fields, &rows))
		return false;
	if (channel->events->resized)
		channel->events->resized(channel, process, cols, rows, channel->user);
	return true;
}

static bool on_participant(struct sandbar_channel *channel, struct frame *frame)
{
	struct sandbar_participant participant = {.seq = frame->seq, .t_us = frame->t_us};

	if (!sharing_participant(&frame->fields, &participant))
		return false;
	if (channel->events->participant)
		channel->events->participant(channel, &participant, channel->user);
	return true;
}

static bool on_driver(struct sandbar_channel *channel, struct frame *frame)
{
	struct sandbar_driver driver = {.seq = frame->seq, .t_us = frame->t_us};

	if (!sharing_driver(&frame->fields, &driver))
		return false;
	if (channel->events->driver)
		channel->events->driver(channel, &driver, channel->user);
	return true;
}

static bool on_note(struct sandbar_channel *channel, struct frame *frame)
{
	struct sandbar_note note = {.seq = frame->seq, .t_us = frame->t_us};

	if (!sharing_note(&frame->fields, &note))
		return false;
	if (channel->events->note)
		channel->events->note(channel, &note, channel->user);
	return true;
}

static bool on_screen(struct sandbar_channel *channel, struct frame *frame)
{
	struct sandbar_screen screen = {0};

	if (!sharing_screen(&frame->fields, &screen))
		return false;
	if (channel_follows(channel, screen.process))
		offsets_set(&channel->offsets, screen.process, STREAM_TTY, screen.offset);
	if (channel->events->screen)
		channel->events->screen(channel, &screen, channel->user);
	return true;
}

static bool on_checkpoint(struct sandbar_channel *channel, struct frame *frame)
{
	struct sandbar_screen screen = {.seq = frame->seq, .t_us = frame->t_us};

	if (!sharing_checkpoint(&frame->fields, &screen))
		return false;
	if (channel->events->checkpoint)
		channel->events->checkpoint(channel, &screen, channel->user);
	return true;
}

static bool on_typing(struct sandbar_channel *channel, struct frame *frame)
{
	uint32_t participant, process;

	if (!sharing_u32(&frame->fields, &participant) || !sharing_u32(&frame->fields, &process))
		return false;
	if (channel->events->typing)
		channel->events->typing(channel, participant, process, channel->user);
	return true;
}

static bool on_ended(struct sandbar_channel *channel, struct frame *frame)
{
	struct view text;
	char reason[32];

	if (!reader_str(&frame->fields, &text))
		return false;
	decode_text(reason, sizeof(reason), text);
	if (channel->events->ended)
		channel->events->ended(channel, reason, channel->user);
	return true;
}

static bool on_gap(struct sandbar_channel *channel, struct frame *frame)
{
	uint64_t from, to;

	if (!reader_uint(&frame->fields, &from) || !reader_uint(&frame->fields, &to))
		return false;
	offsets_clear(&channel->offsets);
	channel->has_seq = true;
	channel->seq = to;
	if (channel->events->gap)
		channel->events->gap(channel, from, to, channel->user);
	return true;
}

struct state_process {
	uint64_t process;
	struct sandbar_ending offsets; /* only its offsets are used */
};

static bool read_state_process(struct reader *reader, void *into)
{
	return reader_uint(reader, &((struct state_process *)into)->process);
}

static bool read_state_offsets(struct reader *reader, void *into)
{
	return decode_offsets(reader, &((struct state_process *)into)->offsets);
}

static const struct decode_key STATE_PROCESS_KEYS[] = {
	{"process", read_state_process},
	{"offsets", read_state_offsets},
	{NULL, NULL},
};

static bool read_state_processes(struct reader *reader, void *into)
{
	struct sandbar_channel *channel = into;
	uint32_t count;

	if (!reader_array(reader, &count))
		return false;
	for (uint32_t i = 0; i < count; i++) {
		struct state_process state = {0};
		if (!decode_map(reader, STATE_PROCESS_KEYS, &state))
			reader_skip(reader);
		if (!channel_follows(channel, (uint32_t)state.process))
			continue;
		for (unsigned stream = SANDBAR_STDOUT; stream < SANDBAR_STREAMS; stream++)
			if (state.offsets.has_offset[stream])
				offsets_set(&channel->offsets, (uint32_t)state.process, stream, state.offsets.offsets[stream]);
	}
	return true;
}

static const struct decode_key STATE_KEYS[] = {{"processes", read_state_processes}, {NULL, NULL}};

static bool on_state(struct sandbar_channel *channel, struct frame *frame)
{
	uint64_t seq;

	if (!reader_uint(&frame->fields, &seq))
		return false;
	const uint8_t *map = frame->fields.at;
	if (!decode_map(&frame->fields, STATE_KEYS, channel))
		return false;
	if (channel->events->state)
		channel->events->state(channel, seq, map, (size_t)(frame->fields.at - map), channel->user);
	return true;
}

static bool on_live(struct sandbar_channel *channel, struct frame *frame)
{
	uint64_t seq;

	if (!reader_uint(&frame->fields, &seq))
		return false;
	if (channel->events->live)
		channel->events->live(channel, seq, channel->user);
	return true;
}

static bool on_stdin_ack(struct sandbar_channel *channel, struct frame *frame)
{
	uint32_t process;
	uint64_t offset;

	if (!sharing_u32(&frame->fields, &process) || !reader_uint(&frame->fields, &offset))
		return false;
	struct channel_input *row = channel_input_of(channel, process);
	if (input_acknowledge(&row->input, offset)) {
		channel_pump(channel);
		if (channel->events->input)
			channel->events->input(channel, process, channel->user);
	}
	return true;
}

static bool on_error(struct sandbar_channel *channel, struct frame *frame)
{
	struct sandbar_error error;
	struct view code, message;
	uint32_t process;

	if (!sharing_u32(&frame->fields, &process) || !reader_str(&frame->fields, &code) ||
	    !reader_str(&frame->fields, &message))
		return false;
	decode_text(error.code, sizeof(error.code), code);
	decode_text(error.message, sizeof(error.message), message);
	if (!channel_input_error(channel, process, &error, frame->fields))
		channel_report(channel, process, &error);
	return true;
}

/* ---- Which function, and whether the user gets the frame itself. Events count against the credit ---- */

static const struct frame_row {
	unsigned kind;
	bool is_event, is_told;
	bool (*handle)(struct sandbar_channel *channel, struct frame *frame);
} FRAMES[] = {
	{FRAME_OUTPUT, true, true, on_output},
	{FRAME_STARTED, true, true, on_started},
	{FRAME_EXITED, true, true, on_exited},
	{FRAME_RESIZED, true, true, on_resized},
	{FRAME_INPUT, true, true, NULL},
	{FRAME_PARTICIPANT, true, true, on_participant},
	{FRAME_DRIVER, true, true, on_driver},
	{FRAME_NOTE, true, true, on_note},
	{FRAME_USAGE, true, true, NULL},
	{FRAME_CHECKPOINT, true, true, on_checkpoint},
	{FRAME_STREAM_CLOSED, true, true, on_stream_closed},
	{FRAME_DENIED, true, true, NULL},
	{FRAME_ENDED, true, true, on_ended},
	{FRAME_GAP, false, true, on_gap},
	{FRAME_STATE, false, true, on_state},
	{FRAME_SCREEN, false, true, on_screen},
	{FRAME_LIVE, false, true, on_live},
	{FRAME_STDIN_ACK, false, false, on_stdin_ack},
	{FRAME_ERROR, false, false, on_error},
	{FRAME_TYPING, false, false, on_typing},
};

static const struct frame_row *find_row(unsigned kind)
{
	static const struct frame_row LATER_EVENT = {0, true, true, NULL}, LATER_OTHER = {0, false, true, NULL};

	for (size_t i = 0; i < sizeof(FRAMES) / sizeof(FRAMES[0]); i++)
		if (FRAMES[i].kind == kind)
			return &FRAMES[i];
	return kind < FRAME_GAP ? &LATER_EVENT : &LATER_OTHER;
}

/* Split the next frame of a message into its head and its fields. */
static bool next_frame(struct reader *reader, struct frame *frame)
{
	uint32_t count;
	uint64_t kind;

	frame->bytes = reader->at;
	frame->fields = *reader;
	if (!reader_skip(reader))
		return false;
	frame->length = (size_t)(reader->at - frame->bytes);
	frame->fields.end = reader->at;
	if (!reader_array(&frame->fields, &count) || !reader_uint(&frame->fields, &kind) || kind > UINT32_MAX)
		return false;
	frame->kind = (unsigned)kind;
	frame->seq = frame->t_us = 0;
	return !find_row(frame->kind)->is_event ||
	       (reader_uint(&frame->fields, &frame->seq) && reader_uint(&frame->fields, &frame->t_us));
}

/* The server promises each event once, in order, after the one that we named. */
static bool is_repeated(struct sandbar_channel *channel, const struct frame *frame)
{
	struct sandbar_error error;

	if (!channel->has_seq || frame->seq > channel->seq)
		return false;
	failure_set(&error, "repeated_event", "event %" PRIu64 " came again, after event %" PRIu64, frame->seq,
	            channel->seq);
	channel_report(channel, 0, &error);
	return true;
}

static bool handle_frame(struct sandbar_channel *channel, struct frame *frame)
{
	const struct frame_row *row = find_row(frame->kind);

	if (row->is_event)
		channel->received += frame->length;
	if (row->is_event && is_repeated(channel, frame))
		return true;
	if (channel->events->frame && row->is_told)
		channel->events->frame(channel, frame->kind, frame->bytes, frame->length, channel->user);
	if (row->handle && !channel->is_gone && !row->handle(channel, frame))
		return false;
	if (row->is_event) {
		channel->has_seq = true;
		channel->seq = frame->seq;
	}
	return true;
}

static struct sandbar_channel *find_channel(struct sandbar *sandbar, uint64_t number)
{
	for (struct sandbar_channel *channel = sandbar->channels; channel; channel = channel->next)
		if (channel->is_attached && !channel->is_gone && channel->number == number)
			return channel;
	return NULL;
}

/* Frames of a channel that was given up are ignored: the server may not know yet. */
void channel_message(struct sandbar *sandbar, uint64_t number, struct reader *reader)
{
	struct sandbar_channel *channel = find_channel(sandbar, number);
	struct frame frame;

	while (channel && !channel->is_gone && reader_type(reader) != VALUE_END) {
		if (!next_frame(reader, &frame) || !handle_frame(channel, &frame)) {
			connection_violated(sandbar, "a frame of a channel has wrong fields");
			return;
		}
	}
	if (channel && !channel->is_gone)
		channel_grant(channel);
}

struct closed_notice {
	uint64_t channel;
	struct view reason;
};

static bool read_closed_channel(struct reader *reader, void *into)
{
	return reader_uint(reader, &((struct closed_notice *)into)->channel);
}

static bool read_closed_reason(struct reader *reader, void *into)
{
	return reader_str(reader, &((struct closed_notice *)into)->reason);
}

void channel_closed_notice(struct sandbar *sandbar, struct reader *params)
{
	static const struct decode_key KEYS[] = {
		{"channel", read_closed_channel},
		{"reason", read_closed_reason},
		{NULL, NULL},
	};
	struct closed_notice notice = {.reason = {"", 0}};
	struct sandbar_error why;
	char reason[sizeof why.code];

	if (!decode_map(params, KEYS, &notice))
		return;
	struct sandbar_channel *channel = find_channel(sandbar, notice.channel);
	if (!channel)
		return;
	decode_text(reason, sizeof(reason), notice.reason);
	failure_set(&why, reason, "%s",
	            strcmp(reason, "removed") == 0 ? "the owner removed this participant" : "the session has ended");
	channel_close(channel, &why);
}
