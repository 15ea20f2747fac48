#include "source.h"

#include "checkpoint.h"
#include "clocks.h"
#include "session.h"

#include <errno.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { TTY_DRAIN_BYTES = 1024 * 1024 };

static struct ev_loop *loop_of(const struct process *process)
{
	return process->session->home->loop;
}

void source_close(struct source *source)
{
	struct process *process = source->process;
	ev_io_stop(loop_of(process), &source->io);
	if (source->stream == STREAM_TTY) {
		input_close(&process->input);
		sharing_stop(&process->sharing);
		struct channel *channel;
		LIST_FOREACH(channel, &process->session->channels, link)
			screens_show_last(&channel->screens, process);
		display_close(&process->display);
	}
	sessions_close_later(process->session->home, source->fd);
	source->fd = -1;
	source->drain = 0;
}

static void source_ended(struct source *source)
{
	struct process *process = source->process;
	source_close(source);
	process->record->stream_ended[source - process->sources] = true;
	if (process->state != PROCESS_DONE)
		return;
	struct writer *event = session_event_begin(process->session, FRAME_STREAM_CLOSED, 3);
	writer_uint(event, process->number);
	writer_uint(event, source->stream);
	writer_uint(event, source->offset);
	session_event_commit(process->session);
	process_forget_if_over(process);
}

/* The output limit is used up: whatever is more is one byte too much, unless the stream is at its end. */
static bool is_over_limit(struct source *source)
{
	int waiting = 0;
	if (ioctl(source->fd, FIONREAD, &waiting) == 0 && waiting > 0)
		return true;
	uint8_t byte;
	ssize_t got = read(source->fd, &byte, 1);
	if (got > 0)
		return true;
	if (got == 0 || errno != EAGAIN)
		source_ended(source);
	else
		source->drain = 0;
	return false;
}

static void stop_at_limit(struct process *process)
{
	for (size_t i = 0; i < process->source_count; i++)
		if (process->sources[i].fd >= 0)
			source_ended(&process->sources[i]);
	process_end(process, REASON_OUTPUT_LIMIT, "output_bytes", process->grace_ms);
}

/* Of MOST bytes, as many as its limit allows, and as its screen may take at once. */
static size_t room_for_output(const struct process *process, uint64_t most)
{
	uint64_t left = process->output_limit == 0 ? UINT64_MAX : process->output_limit - process->output_total;
	uint64_t room = display_room(&process->display);
	room = most < room ? most : room;
	return (size_t)(left < room ? left : room);
}

static void tell_output(struct process *process, enum stream stream, const uint8_t *bytes, size_t length)
{
	struct process_watch *watch;
	LIST_FOREACH(watch, &process->watches, link)
		if (watch->output)
			watch->output(watch, stream, bytes, length);
}

/* To who waits for it, and to the terminal's screen. */
static void hand_on(struct source *source, const uint8_t *bytes, size_t length)
{
	struct process *process = source->process;
	tell_output(process, source->stream, bytes, length);
	if (source->stream == STREAM_TTY) {
		display_feed(&process->display, bytes, length, true);
		screens_all_changed(process);
	}
	checkpoints_write(process->session);
}

/* Everything was read, and nobody can write any more (poll(2)). */
static bool is_at_end(const struct source *source)
{
	struct pollfd look = {.fd = source->fd, .events = POLLIN};
	return poll(&look, 1, 0) == 1 && (look.revents & (POLLIN | POLLHUP)) == POLLHUP;
}

/* Read once, at most MOST bytes, whoever holds it back. False when there is nothing more now, or ever. */
static bool source_take(struct source *source, uint64_t most)
{
	struct process *process = source->process;
	size_t room = room_for_output(process, most);
	if (room == 0) {
		if (is_over_limit(source))
			stop_at_limit(process);
		return false;
	}
	const struct journal_source from = {source->fd, process->number, source->stream, source->offset};
	enum journal_read_end end;
	const uint8_t *bytes;
	size_t got = session_read_output(process->session, &from, room, &end, &bytes);
	if (got > 0)
		process->newest[source - process->sources] = journal_last_seq(process->session->journal);
	source->offset += got;
	process->record->offsets[source - process->sources] = source->offset;
	source->drain -= got < source->drain ? got : source->drain;
	process->output_total += got;
	if (got > 0)
		clocks_output(process);
	if (got > 0)
		hand_on(source, bytes, got);
	source->is_blocked = end == JOURNAL_READ_BLOCKED;
	if (source->is_blocked && source->stream != STREAM_TTY)
		source->drain = 0; /* a terminal's last bytes can still be on their way through the kernel */
	else if (end == JOURNAL_READ_ENDED || (process->state == PROCESS_REAPED && source->drain == 0 && is_at_end(source)))
		source_ended(source); /* before EXITED, so that it does not call a stream open that nobody holds */
	return end == JOURNAL_READ_MORE && source->fd >= 0;
}

static void source_read(struct source *source)
{
	struct process *process = source->process;
	uint64_t most = session_lets_read(process->session, process);
	if (most == 0)
		process_hold(process, true);
	else
		source_take(source, most);
}

void source_catch_up(struct source *source)
{
	int waiting = 0;
	if (source->process->held || ioctl(source->fd, FIONREAD, &waiting) < 0)
		return;
	uint64_t before = UINT64_MAX, until = source->offset + (uint64_t)(waiting > 0 ? waiting : 0);
	while (source->fd >= 0 && source->offset < until && source->offset != before) {
		before = source->offset;
		source_read(source);
	}
}

static void on_readable(struct ev_loop *loop, ev_io *io, int events)
{
	(void)loop, (void)events;
	struct source *source = io->data;
	struct process *process = source->process;
	source_read(source);
	process_settle(process);
}

void sources_read(struct process *process)
{
	for (size_t i = 0; i < process->source_count; i++)
		if (process->sources[i].fd >= 0 && process->sources[i].drain > 0)
			source_read(&process->sources[i]);
}

void sources_finish(struct process *process)
{
	for (size_t i = 0; i < process->source_count; i++) {
		struct source *source = &process->sources[i];
		while (source->fd >= 0 && source_take(source, JOURNAL_READ))
			;
		if (source->fd >= 0)
			source_ended(source);
	}
}

void process_hold(struct process *process, bool held)
{
	process->held = held;
	for (size_t i = 0; i < process->source_count; i++) {
		struct source *source = &process->sources[i];
		if (source->fd >= 0)
			(held ? ev_io_stop : ev_io_start)(loop_of(process), &source->io);
	}
}

void source_open(struct process *process, enum stream stream, int fd)
{
	struct source *source = &process->sources[process->source_count++];
	*source = (struct source){.process = process, .stream = stream, .fd = fd};
	ev_io_init(&source->io, on_readable, fd, EV_READ);
	source->io.data = source;
	if (fd >= 0)
		ev_io_start(loop_of(process), &source->io);
}

/* From now on a stream counts as drained when what stands in it at this moment was read. A terminal's last bytes
 * can be on their way through the kernel's buffers, so it is read until it has nothing or a bound is reached. */
void sources_measure(struct process *process)
{
	for (size_t i = 0; i < process->source_count; i++) {
		struct source *source = &process->sources[i];
		int waiting = 0;
		if (source->fd < 0)
			continue;
		if (source->stream == STREAM_TTY)
			source->drain = TTY_DRAIN_BYTES;
		else
			source->drain = ioctl(source->fd, FIONREAD, &waiting) == 0 && waiting > 0 ? (uint64_t)waiting : 1;
	}
}

bool sources_are_drained(const struct process *process)
{
	for (size_t i = 0; i < process->source_count; i++)
		if (process->sources[i].fd >= 0 && process->sources[i].drain > 0)
			return false;
	return true;
}

bool sources_give_up(struct process *process)
{
	for (size_t i = 0; i < process->source_count; i++) {
		struct source *source = &process->sources[i];
		if (source->fd >= 0 && source->drain > 0 && !source->is_blocked)
			return false;
		source->drain = 0;
	}
	return true;
}
