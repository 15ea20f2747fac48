#include "checkpoint.h"

#include "protocol/reader.h"
#include "server/terminal/terminal.h"
#include "session.h"

#include <stdlib.h>
#include <string.h>

enum {
	PART_BYTES = JOURNAL_EVENT - 256,
	SCROLLBACK = 200, /* lines of a CHECKPOINT */
};

/* --- writing -------------------------------------------------------------------------------------------------- */

static void write_part(struct display *display, const uint8_t *bytes, size_t length, uint32_t part, uint32_t parts)
{
	const struct process *process = display->process;
	struct writer *event = session_event_begin(process->session, FRAME_CHECKPOINT, 7);
	writer_uint(event, process->number);
	writer_uint(event, display->offset);
	writer_uint(event, process->cols);
	writer_uint(event, process->rows);
	writer_uint(event, part);
	writer_uint(event, parts);
	writer_bin(event, bytes, length);
	session_event_commit(process->session);
}

/* At most MOST bytes. Returns those that it took. */
static size_t write_one(struct display *display, size_t most)
{
	size_t length;
	uint8_t *screen = display_make(display, SCROLLBACK, &length);
	if (length > most) {
		free(screen);
		screen = display_make(display, 0, &length);
	}
	display->made_us = journal_now_us(display->process->session->journal);
	size_t written = length <= most ? length : 0;
	uint32_t parts = (uint32_t)((written + PART_BYTES - 1) / PART_BYTES);
	if (parts > 0)
		display->checkpoint = journal_tail(display->process->session->journal);
	for (uint32_t part = 0; part < parts; part++) {
		size_t from = (size_t)part * PART_BYTES, left = written - from;
		write_part(display, screen + from, left < PART_BYTES ? left : PART_BYTES, part + 1, parts);
	}
	free(screen);
	return written;
}

void checkpoints_write(struct session *session)
{
	const struct journal *journal = session->journal;
	uint64_t ring = journal_ring(journal);
	if (session->display_cells == 0 || journal_tail(journal) - session->checkpointed < ring * 3 / 16)
		return;
	session->checkpointed = journal_tail(journal);
	size_t left = ring / 16;
	struct process *process;
	TAILQ_FOREACH_REVERSE(process, &session->processes, process_list, link)
		if (process->display.terminal && display_pause_us(&process->display) == 0)
			left -= write_one(&process->display, left);
}

/* --- making them again ---------------------------------------------------------------------------------------- */

struct checkpoint {
	uint64_t process, offset, cols, rows, part, parts;
	struct view bytes;
};

static bool read_checkpoint(const uint8_t *frame, size_t length, struct checkpoint *checkpoint)
{
	struct event_frame event;
	struct reader *fields = &event.fields;
	return event_read(frame, length, &event) && event.kind == FRAME_CHECKPOINT &&
	       reader_uint(fields, &checkpoint->process) && reader_uint(fields, &checkpoint->offset) &&
	       reader_uint(fields, &checkpoint->cols) && reader_uint(fields, &checkpoint->rows) &&
	       reader_uint(fields, &checkpoint->part) && reader_uint(fields, &checkpoint->parts) &&
	       reader_bin(fields, &checkpoint->bytes);
}

static struct display *display_of(struct session *session, uint64_t number)
{
	struct process *process = number <= UINT32_MAX ? session_find_process(session, (uint32_t)number) : NULL;
	return process && process->terminal && !process->forgotten ? &process->display : NULL;
}

/* Call EACH for every frame from POSITION on. */
static void walk(struct session *session, uint64_t position,
                 void (*each)(struct session *session, uint64_t position, const uint8_t *frame, size_t length))
{
	const struct journal *journal = session->journal;
	while (position < journal_tail(journal)) {
		size_t length;
		const uint8_t *frame = journal_frame(journal, position, &length);
		each(session, position, frame, length);
		position += length;
	}
}

/* Where the newest whole CHECKPOINT of each terminal begins. One that was cut by the gateway's death is none. */
static void find_newest(struct session *session, uint64_t position, const uint8_t *frame, size_t length)
{
	struct checkpoint checkpoint;
	struct output_header output;
	if (output_header_read(frame, length, &output) || !read_checkpoint(frame, length, &checkpoint))
		return;
	struct display *display = display_of(session, checkpoint.process);
	if (!display)
		return;
	if (checkpoint.part == 1)
		display->restore.begun = position;
	if (checkpoint.part == checkpoint.parts && display->restore.begun != 0)
		display->checkpoint = display->restore.begun;
}

static void take_output(struct session *session, uint64_t position, const uint8_t *frame,
                        const struct output_header *output)
{
	struct display *display = display_of(session, output->process);
	if (display && position >= display->checkpoint)
		display_feed(display, frame + OUTPUT_HEADER_BYTES, output->length, false);
}

static void take_checkpoint(struct session *session, uint64_t position, const struct checkpoint *checkpoint)
{
	struct display *display = display_of(session, checkpoint->process);
	if (!display)
		return;
	if (position == display->checkpoint) {
		display_open(display, (uint16_t)checkpoint->cols, (uint16_t)checkpoint->rows);
		display->restore.parts = checkpoint->parts;
	}
	if (position < display->checkpoint || display->restore.parts == 0)
		return;
	display->restore.parts--;
	display_feed(display, (const uint8_t *)checkpoint->bytes.data, checkpoint->bytes.length, false);
}

static void take_resized(struct session *session, uint64_t position, const uint8_t *frame, size_t length)
{
	struct event_frame event;
	uint64_t number, cols, rows;
	if (!event_read(frame, length, &event) || event.kind != FRAME_RESIZED || !reader_uint(&event.fields, &number) ||
	    !reader_uint(&event.fields, &cols) || !reader_uint(&event.fields, &rows))
		return;
	struct display *display = display_of(session, number);
	if (display && position >= display->checkpoint)
		display_resize(display, (uint16_t)cols, (uint16_t)rows);
}

static void take_frame(struct session *session, uint64_t position, const uint8_t *frame, size_t length)
{
	struct checkpoint checkpoint;
	struct output_header output;
	if (output_header_read(frame, length, &output))
		take_output(session, position, frame, &output);
	else if (read_checkpoint(frame, length, &checkpoint))
		take_checkpoint(session, position, &checkpoint);
	else
		take_resized(session, position, frame, length);
}

/* The size with which a terminal was started stands in what STARTED said. */
static void open_as_started(struct display *display)
{
	const struct process *process = display->process;
	struct reader map = reader_over(process->start_map, process->start_map_length), size;
	struct view key;
	uint32_t count;
	uint64_t cols = process->cols, rows = process->rows;
	while (reader_str(&map, &key)) {
		size = map;
		reader_skip(&map);
		if (!view_equals(key, "terminal") || !reader_map(&size, &count))
			continue;
		while (reader_str(&size, &key))
			if (!reader_uint(&size, view_equals(key, "cols") ? &cols : &rows))
				break;
		break;
	}
	display_open(display, (uint16_t)cols, (uint16_t)rows);
}

static bool has_display(struct session *session)
{
	const struct process *process;
	TAILQ_FOREACH(process, &session->processes, link)
		if (display_of(session, process->number))
			return true;
	return false;
}

void checkpoints_restore(struct session *session)
{
	const struct journal *journal = session->journal;
	uint64_t from = journal_tail(journal);
	session->checkpointed = from; /* a round from now on */
	if (!has_display(session))
		return; /* a journal is large, and clients wait */
	walk(session, journal_head(journal), find_newest);
	struct process *process;
	TAILQ_FOREACH(process, &session->processes, link) {
		struct display *display = display_of(session, process->number);
		if (!display)
			continue;
		if (display->checkpoint == 0)
			open_as_started(display);
		uint64_t needed = display->checkpoint ? display->checkpoint : journal_head(journal);
		from = needed < from ? needed : from;
	}
	walk(session, from, take_frame);
	TAILQ_FOREACH(process, &session->processes, link) {
		process->display.offset = process->sources[0].offset;
		if (process->display.terminal && (process->cols != terminal_columns(process->display.terminal) ||
		                                  process->rows != terminal_rows(process->display.terminal)))
			display_resize(&process->display, process->cols, process->rows);
	}
}
