/*
 * wire_client.h: a client of sandbar.v1 that costs little, so that a benchmark measures the server: one blocking
 * socket, one buffer, no threads, nothing copied. What is wrong ends the program with a word on stderr.
 */
#ifndef SANDBAR_BENCH_WIRE_CLIENT_H
#define SANDBAR_BENCH_WIRE_CLIENT_H

#include "protocol/frame.h"
#include "protocol/writer.h"

#include "tests/bench/bare/link.h"

struct wire_client {
	struct link link;
	uint8_t *buffer; /* received bytes that are not read yet: [at, end) */
	size_t at, end;
	struct reader message; /* what is left of the newest message */
	uint64_t channel;      /* that it came on */
	struct writer request;
	uint32_t last_id;
};

/* One frame of the newest message; valid until the next call. */
struct wire_frame {
	uint64_t channel;
	const uint8_t *bytes;
	size_t length;
};

/* Connect to ADDRESS (as in link.h), and say hello with TOKEN. */
void wire_client_open(struct wire_client *client, const char *address, const char *token);
void wire_client_close(struct wire_client *client);

/* Begin a request whose map of parameters has COUNT entries, which the caller then writes; send it, and what its id is. */
struct writer *wire_client_request(struct wire_client *client, const char *method, uint32_t count);
uint32_t wire_client_send(struct wire_client *client);
/* Send a message as it is: its channel and its frames. */
void wire_client_send_message(struct wire_client *client, const uint8_t *message, size_t length);

/* The next frame, whatever it is; an error response or notice ends the program. */
void wire_client_next(struct wire_client *client, struct wire_frame *frame);
/* The result of the request ID; frames before it are passed over. */
struct reader wire_client_result(struct wire_client *client, uint32_t id);

/* For who polls many: wait for what comes, answer pings, and pass over all frames. */
void wire_client_pass_over(struct wire_client *client);
/* Bytes were received that wire_client_next() has not handed on; they may be part of a message. */
bool wire_client_has_more(const struct wire_client *client);

#endif
