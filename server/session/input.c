#include "input.h"

#include "session.h"

#include <assert.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

enum { ACK_BYTES = 64 * 1024 /* written to a terminal and not acknowledged, over which nothing is waited for */ };
static const ev_tstamp note_after_s = 1.0;  /* input of one participant within this time is one INPUT event */
static const ev_tstamp ack_after_s = 0.005; /* how much later a terminal's input is acknowledged */

struct input_client {
	LIST_ENTRY(input_client) link;
	uint8_t client[CLIENT_ID_BYTES];
	struct journal_stdin_slot *slot; /* what was written stands there */
	uint64_t taken;                  /* offset up to which bytes were taken */
	uint64_t end;                    /* 1 + the offset of the end that was taken last; 0: none */
	uint64_t *end_written;           /* the same of one that a terminal got, in the journal */
	bool ack_due;
};

/* A chunk is the bytes of one message; or, where `length` bytes are not to be written, a step of a client's offset. */
struct input_chunk {
	TAILQ_ENTRY(input_chunk) link;
	struct input_client *from; /* NULL: nobody's, so that no offset counts it */
	uint32_t participant;
	size_t length, done;
	uint64_t ahead;  /* 1 + the offset of this byte, which goes before its turn; its step stands where it would have */
	bool is_end;     /* the end of input stands behind the bytes */
	bool is_control; /* its bytes are in nobody's offset: VEOF of a terminal, or one that goes ahead */
	bool is_step;    /* its bytes were written before */
	bool is_answer;  /* the terminal's own */
	uint8_t bytes[];
};

static struct ev_loop *loop_of(const struct input *input)
{
	return input->process->session->home->loop;
}

/* A timer that was stopped keeps what was left of its time: it is set anew each time. */
static void start_timer(struct input *input, ev_timer *timer, ev_tstamp seconds)
{
	ev_timer_set(timer, seconds, 0.);
	ev_timer_start(loop_of(input), timer);
}

/* --- INPUT events ------------------------------------------------------------------------------------------------ */

static void flush_note(struct input *input)
{
	ev_timer_stop(loop_of(input), &input->note);
	if (input->noted_bytes == 0)
		return;
	struct session *session = input->process->session;
	struct writer *event = session_event_begin(session, FRAME_INPUT, 3);
	writer_uint(event, input->noted_participant);
	writer_uint(event, input->process->number);
	writer_uint(event, input->noted_bytes);
	input->noted_bytes = 0;
	session_event_commit(session);
}

static void on_note(struct ev_loop *loop, ev_timer *timer, int events)
{
	(void)loop, (void)events;
	flush_note(timer->data);
}

static void note(struct input *input, uint32_t participant, size_t bytes)
{
	if (input->noted_bytes > 0 && input->noted_participant != participant)
		flush_note(input);
	if (input->noted_bytes == 0)
		start_timer(input, &input->note, note_after_s);
	input->noted_participant = participant;
	input->noted_bytes += (uint32_t)bytes;
}

/* --- writing ----------------------------------------------------------------------------------------------------- */

static void drop_chunk(struct input *input, struct input_chunk *chunk)
{
	TAILQ_REMOVE(&input->chunks, chunk, link);
	free(chunk);
}

/* A slot with an intent, while we write nothing, is of an earlier gateway that died in a write. It stays so until the client
 * sends more, which it does not before it was told of the doubt: another death may come before that. Up to where its input was
 * written, or may have been. */
static uint64_t accepted_of(const struct input_client *client)
{
	return client->slot->accepted + client->slot->intent;
}

/* What cannot be known counts as written from now on: never a silent second delivery. */
static void settle(struct input_client *client)
{
	client->slot->accepted = accepted_of(client);
	client->slot->intent = 0;
}

static void acknowledge(struct input *input)
{
	struct input_client *client;
	input->unacknowledged = 0;
	ev_timer_stop(loop_of(input), &input->ack);
	LIST_FOREACH(client, &input->clients, link) {
		if (!client->ack_due)
			continue;
		client->ack_due = false;
		session_ack(input->process->session, client->client, input->process->number, accepted_of(client));
	}
}

static void on_ack(struct ev_loop *loop, ev_timer *timer, int events)
{
	(void)loop, (void)events;
	acknowledge(timer->data);
}

/* What is typed is mostly echoed at once, and who types waits for that: its acknowledgement must not stand in the way. */
static void acknowledge_soon(struct input *input)
{
	if (!input->is_terminal || input->unacknowledged >= ACK_BYTES)
		acknowledge(input);
	else if (input->unacknowledged > 0 && !ev_is_active(&input->ack))
		start_timer(input, &input->ack, ack_after_s);
}

static void accept_bytes(struct input *input, struct input_chunk *chunk, size_t bytes)
{
	if (!chunk->from)
		return;
	struct journal_stdin_slot *slot = chunk->from->slot;
	slot->accepted += bytes;
	if (slot->accepted >= slot->ahead)
		slot->ahead = 0;
	chunk->from->ack_due = true;
	input->unacknowledged += bytes;
}

/* What a later gateway must know of a write under way stands in the journal's header: its length, or its place ahead, or at
 * which offset a terminal gets its end. */
static void note_intent(struct input_chunk *chunk, size_t bytes)
{
	if (!chunk->from)
		return; /* nobody sends it again */
	struct journal_stdin_slot *slot = chunk->from->slot;
	if (chunk->is_end)
		*chunk->from->end_written = bytes > 0 ? slot->accepted + 1 : 0;
	else if (chunk->ahead != 0)
		slot->ahead = bytes > 0 ? chunk->ahead : 0;
	else if (!chunk->is_control)
		__atomic_store_n(&slot->intent, (uint32_t)bytes, __ATOMIC_RELEASE);
	atomic_signal_fence(memory_order_seq_cst);
}

static int signal_of(const struct input *input, uint8_t byte)
{
	return input->is_terminal ? interrupt_of(input->fd, byte) : 0;
}

/* A terminal whose program does not read takes no more bytes: it is told to signal all the same (ioctl_tty(2), TIOCSIG). */
static bool raise_signal(const struct input *input, uint8_t byte)
{
	int number = signal_of(input, byte);
	bool is_raised = number != 0 && interrupt_raise(input->fd, number);
	if (!is_raised)
		errno = EAGAIN;
	return is_raised;
}

static ssize_t write_some(struct input *input, struct input_chunk *chunk)
{
	size_t left = chunk->length - chunk->done;
	if (chunk->is_step) {
		accept_bytes(input, chunk, left);
		return (ssize_t)left;
	}
	note_intent(chunk, left);
	ssize_t wrote = write(input->fd, chunk->bytes + chunk->done, left);
	if (wrote < 0 && errno == EAGAIN && chunk->ahead != 0 && raise_signal(input, chunk->bytes[0]))
		wrote = 1;
	if (wrote > 0 && !chunk->is_control)
		accept_bytes(input, chunk, (size_t)wrote);
	if (wrote > 0 && (!chunk->is_control || chunk->ahead != 0))
		note(input, chunk->participant, (size_t)wrote);
	if (wrote > 0 && input->is_terminal)
		interrupt_typed(&input->interrupt, chunk->bytes + chunk->done, (size_t)wrote, chunk->length);
	if (wrote > 0)
		input->process->session->home->counters.input_bytes += (size_t)wrote;
	bool stays_noted = chunk->ahead != 0 || chunk->is_end; /* since no offset counts it yet, or ever */
	if (wrote < 0 || !stays_noted)
		note_intent(chunk, 0);
	return wrote;
}

/* Bytes that were taken will not be written: whoever sent them hears it. */
static void tell_refused(struct input *input)
{
	const struct input_client *client;
	LIST_FOREACH(client, &input->clients, link)
		if (client->taken > accepted_of(client))
			session_refuse_input(input->process->session, client->client, input->process->number, accepted_of(client));
}

static void end_pipe(struct input *input)
{
	struct process *process = input->process;
	input_close(input);
	if (process->session->sandbox)
		process->session->home->driver->close_stdin(process->session->sandbox, process->number);
}

static void write_queue(struct input *input)
{
	struct input_chunk *chunk;
	while (input->fd >= 0 && (chunk = TAILQ_FIRST(&input->chunks))) {
		ssize_t wrote = chunk->done < chunk->length ? write_some(input, chunk) : 0;
		if (wrote < 0 && errno == EINTR)
			continue;
		if (wrote < 0 && errno == EAGAIN)
			break;
		if (wrote < 0) { /* EPIPE or EIO: nobody reads any more */
			tell_refused(input);
			input_close(input);
			break;
		}
		chunk->done += (size_t)wrote;
		if (chunk->done < chunk->length)
			continue;
		bool is_end = chunk->is_end;
		drop_chunk(input, chunk);
		if (is_end && !input->is_terminal)
			end_pipe(input);
	}
	acknowledge_soon(input);
	if (input->fd >= 0 && !TAILQ_EMPTY(&input->chunks))
		ev_io_start(loop_of(input), &input->io);
	else if (input->fd >= 0)
		ev_io_stop(loop_of(input), &input->io);
}

static void on_writable(struct ev_loop *loop, ev_io *io, int events)
{
	(void)loop, (void)events;
	write_queue(io->data);
}

/* --- lifecycle --------------------------------------------------------------------------------------------------- */

void input_init(struct input *input, struct process *process)
{
	*input = (struct input){.process = process, .fd = -1};
	TAILQ_INIT(&input->chunks);
	LIST_INIT(&input->clients);
	ev_timer_init(&input->note, on_note, 0., 0.);
	ev_timer_init(&input->ack, on_ack, 0., 0.);
	input->note.data = input->ack.data = input;
	interrupt_init(&input->interrupt, process);
}

void input_open(struct input *input, int fd, bool is_terminal)
{
	input->fd = fd;
	input->is_terminal = is_terminal;
	input->had_stdin = true;
	ev_io_init(&input->io, on_writable, fd, EV_WRITE);
	input->io.data = input;
}

void input_close(struct input *input)
{
	if (input->fd < 0)
		return;
	flush_note(input);
	acknowledge(input);
	ev_io_stop(loop_of(input), &input->io);
	if (!input->is_terminal)
		close(input->fd);
	input->fd = -1;
	struct input_chunk *chunk;
	while ((chunk = TAILQ_FIRST(&input->chunks)))
		drop_chunk(input, chunk);
}

void input_finish(struct input *input)
{
	assert(input->fd < 0 && TAILQ_EMPTY(&input->chunks));
	ev_timer_stop(loop_of(input), &input->note);
	ev_timer_stop(loop_of(input), &input->ack);
	interrupt_finish(&input->interrupt);
	struct input_client *client;
	while ((client = LIST_FIRST(&input->clients))) {
		LIST_REMOVE(client, link);
		free(client);
	}
	if (input->process->session->journal)
		journal_stdin_forget(input->process->session->journal, input->process->number);
}

/* --- taking ------------------------------------------------------------------------------------------------------ */

static struct input_client *find_client(const struct input *input, const uint8_t id[CLIENT_ID_BYTES])
{
	struct input_client *client;
	LIST_FOREACH(client, &input->clients, link)
		if (memcmp(client->client, id, CLIENT_ID_BYTES) == 0)
			return client;
	return NULL;
}

/* NULL when it has no slot in the journal, and, with MAKE, none is left. */
static struct input_client *client_of(struct input *input, const uint8_t id[CLIENT_ID_BYTES], bool make)
{
	struct input_client *client = find_client(input, id);
	struct journal *journal = input->process->session->journal;
	if (client || !journal)
		return client; /* of a session that has ended, nothing is known of input */
	struct journal_stdin_slot *slot = journal_stdin(journal, id, input->process->number, make);
	if (!slot)
		return NULL;
	client = calloc(1, sizeof *client);
	if (!client)
		abort();
	memcpy(client->client, id, CLIENT_ID_BYTES);
	client->slot = slot;
	client->taken = accepted_of(client);
	client->end_written = journal_stdin_end(journal, slot);
	client->end = *client->end_written;
	LIST_INSERT_HEAD(&input->clients, client, link);
	return client;
}

static struct input_chunk *make_chunk(struct input_client *from, uint32_t participant, const uint8_t *bytes,
                                      size_t length)
{
	struct input_chunk *chunk = malloc(sizeof *chunk + length);
	if (!chunk)
		abort();
	*chunk = (struct input_chunk){.from = from, .participant = participant, .length = length};
	memcpy(chunk->bytes, bytes, length);
	return chunk;
}

static struct input_result refuse(enum error_code code, uint64_t offset)
{
	return (struct input_result){code, offset};
}

static enum error_code closed_code(const struct input *input)
{
	if (input->process->state >= PROCESS_REAPED)
		return CODE_PROCESS_EXITED;
	return input->had_stdin ? CODE_STDIN_CLOSED : CODE_NO_STDIN;
}

static void queue_bytes(struct input *input, struct input_client *client, uint32_t participant, const uint8_t *bytes,
                        size_t length, bool is_step)
{
	if (length == 0)
		return;
	struct input_chunk *chunk = make_chunk(client, participant, bytes, length);
	chunk->is_step = is_step;
	if (client)
		client->taken += length;
	TAILQ_INSERT_TAIL(&input->chunks, chunk, link);
}

/* Queue what was taken. A lone signal character goes before what is queued; one that went so under an earlier gateway
 * is not written again. */
static void queue_taken(struct input *input, struct input_client *client, uint32_t participant, const uint8_t *bytes,
                        size_t length)
{
	uint64_t ahead = client->slot->ahead;
	if (ahead > client->taken && ahead <= client->taken + length) {
		size_t before = (size_t)(ahead - 1 - client->taken);
		queue_bytes(input, client, participant, bytes, before, false);
		queue_bytes(input, client, participant, bytes + before, 1, true);
		queue_bytes(input, client, participant, bytes + before + 1, length - before - 1, false);
		return;
	}
	bool overtakes = length == 1 && !TAILQ_EMPTY(&input->chunks) && signal_of(input, bytes[0]) != 0;
	if (overtakes) {
		struct input_chunk *chunk = make_chunk(client, participant, bytes, length);
		chunk->is_control = true;
		chunk->ahead = client->taken + 1;
		TAILQ_INSERT_HEAD(&input->chunks, chunk, link);
	}
	queue_bytes(input, client, participant, bytes, length, overtakes);
}

struct input_result input_take(struct input *input, const struct input_sender *sender, uint64_t offset,
                               const uint8_t *bytes, size_t length)
{
	struct input_client *client = client_of(input, sender->client, false);
	if (client && offset + length <= client->taken) { /* sent again after a cut: it was taken */
		client->ack_due = true;
		acknowledge(input);
		return refuse(ERROR_CODE_NONE, client->taken);
	}
	if (input->fd < 0)
		return refuse(closed_code(input), 0);
	client = client_of(input, sender->client, true);
	if (!client)
		return refuse(CODE_LIMIT, 0);
	if (offset > client->taken)
		return refuse(CODE_STDIN_GAP, client->taken);
	if (input->end_taken && !input->is_terminal)
		return refuse(CODE_STDIN_CLOSED, client->taken);
	bytes += client->taken - offset;
	length -= (size_t)(client->taken - offset);
	settle(client);
	uint64_t room = LIMIT_STDIN_WINDOW - (client->taken - client->slot->accepted);
	size_t take = length < room ? length : (size_t)room;
	if (take > 0) {
		queue_taken(input, client, sender->participant, bytes, take);
		write_queue(input);
	}
	return refuse(take < length ? CODE_STDIN_WINDOW : ERROR_CODE_NONE, client->taken);
}

static size_t answers_waiting(const struct input *input)
{
	const struct input_chunk *chunk;
	size_t bytes = 0;
	TAILQ_FOREACH(chunk, &input->chunks, link)
		bytes += chunk->is_answer ? chunk->length - chunk->done : 0;
	return bytes;
}

/* Behind earlier answers, and behind the rest of a message of which a part is written. */
static struct input_chunk *last_before_answer(const struct input *input)
{
	struct input_chunk *chunk, *last = NULL;
	TAILQ_FOREACH(chunk, &input->chunks, link)
		if (chunk->is_answer || chunk->done > 0)
			last = chunk;
	return last;
}

void input_answer(struct input *input, const void *bytes, size_t length)
{
	if (input->fd < 0 || answers_waiting(input) + length > INPUT_ANSWERS)
		return;
	struct input_chunk *chunk = make_chunk(NULL, 0, bytes, length), *last = last_before_answer(input);
	chunk->is_control = chunk->is_answer = true;
	if (last)
		TAILQ_INSERT_AFTER(&input->chunks, last, chunk, link);
	else
		TAILQ_INSERT_HEAD(&input->chunks, chunk, link);
	write_queue(input);
}

bool input_unknown(struct input *input, const uint8_t id[CLIENT_ID_BYTES], uint64_t *from, uint64_t *to)
{
	const struct input_client *client = client_of(input, id, false);
	if (!client || client->slot->intent == 0)
		return false;
	*from = client->slot->accepted;
	*to = accepted_of(client);
	return true;
}

/* A pipe's is its place in the queue alone. */
static void queue_end(struct input *input, struct input_client *client, uint32_t participant)
{
	struct termios mode;
	uint8_t character = 4;
	if (input->is_terminal && tcgetattr(input->fd, &mode) == 0)
		character = mode.c_cc[VEOF];
	struct input_chunk *chunk = make_chunk(client, participant, &character, input->is_terminal ? 1 : 0);
	chunk->is_end = chunk->is_control = true;
	input->end_taken = true;
	TAILQ_INSERT_TAIL(&input->chunks, chunk, link);
	write_queue(input);
}

void input_take_whole(struct input *input, const uint8_t *bytes, size_t length)
{
	if (input->fd < 0)
		return;
	queue_bytes(input, NULL, 0, bytes, length, false);
	queue_end(input, NULL, 0);
}

struct input_result input_take_end(struct input *input, const struct input_sender *sender, uint64_t offset)
{
	if (input->end_taken && !input->is_terminal)
		return refuse(ERROR_CODE_NONE, 0); /* sent again after a cut */
	if (input->fd < 0)
		return refuse(closed_code(input), 0);
	struct input_client *client = client_of(input, sender->client, true);
	if (!client)
		return refuse(CODE_LIMIT, 0);
	if (client->end == offset + 1)
		return refuse(ERROR_CODE_NONE, offset); /* sent again after a cut: a terminal's was written already */
	if (offset != client->taken)
		return refuse(CODE_STDIN_GAP, client->taken);
	settle(client);
	client->end = offset + 1;
	queue_end(input, client, sender->participant);
	return refuse(ERROR_CODE_NONE, offset);
}

uint64_t input_accepted(struct input *input, const uint8_t client[CLIENT_ID_BYTES])
{
	const struct input_client *found = client_of(input, client, false);
	return found ? accepted_of(found) : 0;
}

uint64_t input_taken(struct input *input, const uint8_t client[CLIENT_ID_BYTES])
{
	const struct input_client *found = client_of(input, client, false);
	return found ? found->taken : 0;
}

uint64_t input_queued(const struct input *input)
{
	uint64_t bytes = 0;
	const struct input_chunk *chunk;
	TAILQ_FOREACH(chunk, &input->chunks, link)
		bytes += chunk->length - chunk->done;
	return bytes;
}
