#include "wire_client.h"

#include "tests/bench/bare/measure.h"

#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	BUFFER_BYTES = LIMIT_MESSAGE_BYTES + 64 * 1024,
	READ_BYTES = 256 * 1024,
	REQUEST_BYTES = 64 * 1024,
	MASK_BYTES = 4,
};

/* RFC 6455, 5.2. */
enum { OPCODE_BINARY = 2, OPCODE_CLOSE = 8, OPCODE_PING = 9, OPCODE_PONG = 10, FIN = 0x80, MASKED = 0x80 };

struct header {
	unsigned opcode;
	size_t bytes; /* of the header itself */
	size_t payload;
};

static void fail(const char *what, const void *text, size_t length)
{
	fprintf(stderr, "%s: %.*s\n", what, (int)length, (const char *)text);
	exit(1);
}

/* --- the socket ---------------------------------------------------------------------------------------------- */

static void receive(struct wire_client *client)
{
	if (client->at == client->end)
		client->at = client->end = 0;
	if (client->end + READ_BYTES > BUFFER_BYTES) {
		memmove(client->buffer, client->buffer + client->at, client->end - client->at);
		client->end -= client->at;
		client->at = 0;
	}
	size_t room = BUFFER_BYTES - client->end;
	ssize_t got = link_read(&client->link, client->buffer + client->end, room < READ_BYTES ? room : READ_BYTES);
	if (got <= 0)
		die("the connection ended");
	client->end += (size_t)got;
}

/* With a mask of zeros, which changes nothing. */
static void send_frame(struct wire_client *client, unsigned opcode, const uint8_t *payload, size_t length)
{
	uint8_t header[2 + 8 + MASK_BYTES] = {(uint8_t)(FIN | opcode)};
	size_t bytes = 2;
	if (length < 126) {
		header[1] = (uint8_t)(MASKED | length);
	} else {
		const uint64_t wide = htobe64(length);
		header[1] = MASKED | 127;
		memcpy(header + bytes, &wide, sizeof wide);
		bytes += sizeof wide;
	}
	link_write(&client->link, header, bytes + MASK_BYTES, payload, length);
}

static bool read_header(const struct wire_client *client, struct header *header)
{
	const uint8_t *at = client->buffer + client->at;
	size_t have = client->end - client->at;
	if (have < 2)
		return false;
	*header = (struct header){.opcode = at[0] & 15u, .bytes = 2, .payload = at[1] & 127u};
	size_t more = header->payload == 126 ? 2 : header->payload == 127 ? 8 : 0;
	if (more == 0)
		return true;
	header->bytes += more;
	if (have < header->bytes)
		return false;
	header->payload = 0;
	for (size_t i = 2; i < header->bytes; i++)
		header->payload = header->payload << 8 | at[i];
	return true;
}

static void take_message(struct wire_client *client, const struct header *header, const uint8_t *payload)
{
	if (header->opcode == OPCODE_PING)
		send_frame(client, OPCODE_PONG, payload, header->payload);
	if (header->opcode == OPCODE_CLOSE)
		fail("the server closed the connection", payload + 2, header->payload > 2 ? header->payload - 2 : 0);
	if (header->opcode != OPCODE_BINARY)
		return;
	client->message = reader_over(payload, header->payload);
	if (!reader_uint(&client->message, &client->channel))
		fail("a message without a channel", "", 0);
}

/* Take the next message that has come whole; false if there is none. */
static bool take_next(struct wire_client *client)
{
	struct header header;
	if (!read_header(client, &header) || client->end - client->at < header.bytes + header.payload)
		return false;
	const uint8_t *payload = client->buffer + client->at + header.bytes;
	client->at += header.bytes + header.payload;
	take_message(client, &header, payload);
	return true;
}

static void next_message(struct wire_client *client)
{
	while (!take_next(client))
		receive(client);
}

void wire_client_pass_over(struct wire_client *client)
{
	receive(client);
	while (take_next(client))
		;
}

bool wire_client_has_more(const struct wire_client *client)
{
	return client->message.at != client->message.end || client->at != client->end;
}

/* --- frames -------------------------------------------------------------------------------------------------- */

static void look_for_errors(const struct wire_frame *frame)
{
	struct reader reader = reader_over(frame->bytes, frame->length);
	uint32_t count;
	uint64_t type, id;
	struct view method;
	if (!reader_array(&reader, &count) || !reader_uint(&reader, &type))
		fail("a frame of channel 0 is none", "", 0);
	bool is_error = type == RPC_RESPONSE ? reader_uint(&reader, &id) && !reader_nil(&reader)
	                                     : reader_str(&reader, &method) && view_equals(method, "error");
	if (is_error)
		fail("the server answered with an error", frame->bytes, frame->length);
}

void wire_client_next(struct wire_client *client, struct wire_frame *frame)
{
	while (client->message.at == client->message.end)
		next_message(client);
	frame->channel = client->channel;
	frame->bytes = client->message.at;
	reader_skip(&client->message);
	frame->length = (size_t)(client->message.at - frame->bytes);
	if (frame->channel == 0)
		look_for_errors(frame);
}

struct reader wire_client_result(struct wire_client *client, uint32_t id)
{
	for (;;) {
		struct wire_frame frame;
		wire_client_next(client, &frame);
		struct reader reader = reader_over(frame.bytes, frame.length);
		uint32_t count;
		uint64_t type, answered;
		if (frame.channel == 0 && reader_array(&reader, &count) && reader_uint(&reader, &type) &&
		    type == RPC_RESPONSE && reader_uint(&reader, &answered) && answered == id && reader_nil(&reader))
			return reader;
	}
}

/* --- requests ------------------------------------------------------------------------------------------------ */

struct writer *wire_client_request(struct wire_client *client, const char *method, uint32_t count)
{
	struct writer *request = &client->request;
	writer_reset(request);
	writer_uint(request, 0);
	writer_array(request, 4);
	writer_uint(request, RPC_REQUEST);
	writer_uint(request, ++client->last_id);
	writer_str(request, method);
	writer_array(request, 1);
	writer_map(request, count);
	return request;
}

uint32_t wire_client_send(struct wire_client *client)
{
	wire_client_send_message(client, client->request.data, client->request.length);
	return client->last_id;
}

void wire_client_send_message(struct wire_client *client, const uint8_t *message, size_t length)
{
	send_frame(client, OPCODE_BINARY, message, length);
}

/* --- lifecycle ----------------------------------------------------------------------------------------------- */

/* The opening handshake. Its answer is read byte by byte, so that no frame is read with it. */
static void upgrade(struct link *link)
{
	static const char request[] = "GET " WIRE_PATH " HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\n"
								  "Connection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
								  "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: " WIRE_SUBPROTOCOL "\r\n\r\n";
	char answer[2048] = "";
	size_t length = 0;
	link_write(link, request, sizeof request - 1, NULL, 0);
	while (length + 1 < sizeof answer && !strstr(answer, "\r\n\r\n") && link_read(link, answer + length, 1) == 1)
		length++;
	if (strncmp(answer, "HTTP/1.1 101", 12) != 0)
		fail("the server refused the upgrade", answer, length);
}

static void say_hello(struct wire_client *client, const char *token)
{
	static const uint8_t id[CLIENT_ID_BYTES] = "bench client id";
	struct writer *hello = wire_client_request(client, "hello", 4);
	writer_key_str(hello, "token", token);
	writer_key_uint(hello, "version", WIRE_VERSION);
	writer_key_str(hello, "client", "bench");
	writer_str(hello, "client_id");
	writer_bin(hello, id, sizeof id);
	wire_client_result(client, wire_client_send(client));
}

void wire_client_open(struct wire_client *client, const char *address, const char *token)
{
	*client = (struct wire_client){.buffer = malloc(BUFFER_BYTES)};
	if (!client->buffer)
		die("memory for messages");
	link_open(&client->link, address);
	writer_init(&client->request, REQUEST_BYTES);
	upgrade(&client->link);
	say_hello(client, token);
}

void wire_client_close(struct wire_client *client)
{
	link_close(&client->link);
	free(client->buffer);
	writer_finish(&client->request);
}
