#include "request.h"

#include "failure.h"
#include "transport.h"

#include <string.h>

/* What asks, and what a second time finds as the first left it. */
static const char *const REPEATABLE[] = {
	"session.list", "session.info", "process.list", "process.wait", "process.kill", "server.info",
};

static bool is_repeatable(const char *method)
{
	for (size_t i = 0; i < sizeof(REPEATABLE) / sizeof(REPEATABLE[0]); i++)
		if (strcmp(REPEATABLE[i], method) == 0)
			return true;
	return false;
}

static void release(struct request *row)
{
	writer_finish(&row->message);
	*row = (struct request){0};
}

void requests_finish(struct requests *requests)
{
	for (size_t i = 0; i < LIMIT_OPEN_REQUESTS; i++)
		if (requests->rows[i].id)
			release(&requests->rows[i]);
}

struct request *requests_find(struct requests *requests, uint32_t id)
{
	for (size_t i = 0; i < LIMIT_OPEN_REQUESTS; i++)
		if (requests->rows[i].id == id)
			return &requests->rows[i];
	return NULL;
}

static uint32_t next_id(struct requests *requests)
{
	do
		requests->last_id++;
	while (requests->last_id == 0 || requests_find(requests, requests->last_id));
	return requests->last_id;
}

static void encode(struct request *row, const char *method, const void *params, size_t length)
{
	struct writer *message = &row->message;

	transport_message_begin(message);
	writer_uint(message, 0);
	writer_array(message, 4);
	writer_uint(message, 0);
	writer_uint(message, row->id);
	writer_str(message, method);
	writer_array(message, params ? 1 : 0);
	if (params)
		writer_raw(message, params, length);
}

struct request *requests_add(struct requests *requests, const char *method, const void *params, size_t length,
                             struct sandbar_error *error)
{
	struct request *row = requests_find(requests, 0);

	if (!row) {
		failure_set(error, "limit", "%d requests are open already: that is the most for one connection",
		            LIMIT_OPEN_REQUESTS);
		return NULL;
	}
	*row = (struct request){.id = next_id(requests), .is_repeatable = is_repeatable(method)};
	encode(row, method, params, length);
	if (row->message.failed || row->message.length > TRANSPORT_HEADROOM + LIMIT_MESSAGE_BYTES) {
		failure_set(error, "too_large", "%s: a message may have at most %d bytes", method, LIMIT_MESSAGE_BYTES);
		release(row);
		return NULL;
	}
	return row;
}

void requests_send(struct request *row, struct transport *transport)
{
	row->is_sent = true;
	if (!row->is_repeatable) {
		transport_send(transport, &row->message);
		return;
	}
	struct writer copy;
	writer_init(&copy, row->message.bound);
	writer_raw(&copy, row->message.data, row->message.length);
	transport_send(transport, &copy);
}

/* Whether A goes out before B. Numbers wrap after four thousand million requests; the difference does not. */
static bool is_before(const struct request *a, const struct request *b)
{
	if (a->is_first != b->is_first)
		return a->is_first;
	return (int32_t)(a->id - b->id) < 0;
}

static struct request *oldest_waiting(struct requests *requests)
{
	struct request *oldest = NULL;

	for (size_t i = 0; i < LIMIT_OPEN_REQUESTS; i++) {
		struct request *row = &requests->rows[i];
		if (row->id && !row->is_sent && (!oldest || is_before(row, oldest)))
			oldest = row;
	}
	return oldest;
}

void requests_send_waiting(struct requests *requests, struct transport *transport)
{
	struct request *row;

	while ((row = oldest_waiting(requests)))
		requests_send(row, transport);
}

void requests_answer(struct requests *requests, struct request *row, struct sandbar *sandbar,
                     const struct sandbar_error *error, const void *result, size_t length)
{
	sandbar_answer answer = row->answer;
	void *user = row->user;

	(void)requests;
	release(row);
	if (answer)
		answer(sandbar, error, result, length, user);
}

/* Answers may make new requests: those have higher numbers, were not sent, and are left alone. */
void requests_cut(struct requests *requests, struct sandbar *sandbar, const struct sandbar_error *why)
{
	for (size_t i = 0; i < LIMIT_OPEN_REQUESTS; i++) {
		struct request *row = &requests->rows[i];
		if (!row->id || !row->is_sent)
			continue;
		if (row->is_repeatable)
			row->is_sent = false;
		else
			requests_answer(requests, row, sandbar, why, NULL, 0);
	}
}

void requests_fail(struct requests *requests, struct sandbar *sandbar, const struct sandbar_error *why)
{
	for (size_t i = 0; i < LIMIT_OPEN_REQUESTS; i++)
		if (requests->rows[i].id)
			requests_answer(requests, &requests->rows[i], sandbar, why, NULL, 0);
}
