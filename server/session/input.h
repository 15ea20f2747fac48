/*
 * input.h: what clients send to a process: a bounded queue in front of its stdin or terminal, with an offset for
 * each client that says which bytes were taken and which were written, so that nothing is ever delivered twice.
 *
 * A chunk is one client's message; chunks are written one after the other and never interleaved. A client may have
 * LIMIT_STDIN_WINDOW bytes taken and not yet written.
 */
#ifndef SANDBAR_INPUT_H
#define SANDBAR_INPUT_H

#include "interrupt.h"
#include "journal.h"

#include <ev.h>
#include <sys/queue.h>

struct process;
struct input_chunk;
struct input_client;

struct input {
	struct process *process;
	int fd; /* the pipe's write end or the terminal's master; -1: none (any more) */
	bool is_terminal;
	bool had_stdin; /* it was started with stdin */
	bool end_taken; /* EOF was taken: nothing more is */
	ev_io io;       /* waits for room */
	TAILQ_HEAD(, input_chunk) chunks;
	LIST_HEAD(, input_client) clients;
	uint32_t noted_participant, noted_bytes; /* for INPUT events that sum up */
	ev_timer note;
	size_t unacknowledged; /* bytes written since the last acknowledgement */
	ev_timer ack;          /* a terminal's comes behind the echo */
	struct interrupt interrupt;
};

struct input_result {
	enum error_code code; /* ERROR_CODE_NONE: all bytes were taken, or had been before */
	uint64_t offset;      /* STDIN_GAP: expected; STDIN_WINDOW: taken up to here */
};

struct input_sender {
	uint8_t client[CLIENT_ID_BYTES];
	uint32_t participant;
};

void input_init(struct input *input, struct process *process);
void input_open(struct input *input, int fd,
                bool is_terminal);      /* the descriptor becomes the input's, but a terminal's */
void input_close(struct input *input);  /* what is queued is dropped; closes the descriptor, but a terminal's */
void input_finish(struct input *input); /* after close: frees what is left; may be repeated */

/* Take BYTES that the sender says stand at OFFSET. */
struct input_result input_take(struct input *input, const struct input_sender *sender, uint64_t offset,
                               const uint8_t *bytes, size_t length);
/* The whole input, and its end: it came with the request that started the process, and is nobody's. */
void input_take_whole(struct input *input, const uint8_t *bytes, size_t length);
/* The terminal itself answers its program: before what waits to be written, and not inside of a message. What is more than
 * INPUT_ANSWERS bytes that the program does not read, is dropped. */
void input_answer(struct input *input, const void *bytes, size_t length);
enum { INPUT_ANSWERS = 4096 };
/* Take the end of input at OFFSET. */
struct input_result input_take_end(struct input *input, const struct input_sender *sender, uint64_t offset);

/* True for bytes of this client of which an earlier gateway's death left open whether they arrived, until it sends more. */
bool input_unknown(struct input *input, const uint8_t client[CLIENT_ID_BYTES], uint64_t *from, uint64_t *to);

/* The offset up to which this client's input was written; 0 if it sent none. */
uint64_t input_accepted(struct input *input, const uint8_t client[CLIENT_ID_BYTES]);
/* The offset up to which it was taken: where this client's input goes on. */
uint64_t input_taken(struct input *input, const uint8_t client[CLIENT_ID_BYTES]);
uint64_t input_queued(const struct input *input); /* bytes, of all clients */

#endif
