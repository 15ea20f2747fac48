#include "connection.h"

#include "channel.h"
#include "decode.h"
#include "failure.h"
#include "protocol/check.h"
#include "protocol/frame.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

enum {
	BACKOFF_BASE_MS = 100,
	BACKOFF_MOST_MS = 5000,
	HELLO_MS = 15000,   /* until hello must be answered */
	TOKEN_BYTES = 3072, /* so that hello stays under LIMIT_HELLO_BYTES */
};

enum event { EVENT_OPENED, EVENT_GREETED, EVENT_LOST, EVENT_TIMER, EVENT_COUNT };

static const struct transport_events TRANSPORT_EVENTS;

/* Close codes after which another attempt would end the same. */
static const unsigned FINAL_CODES[] = {CLOSE_TEXT, CLOSE_UNPARSABLE, CLOSE_TOO_BIG, CLOSE_NOT_ALLOWED, CLOSE_REMOVED};

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static uint32_t random_number(void)
{
	uint32_t number = 0;

	(void)!getrandom(&number, sizeof(number), 0);
	return number;
}

static void tell(struct sandbar *sandbar, enum sandbar_state state)
{
	sandbar->state = state;
	if (sandbar->on_state)
		sandbar->on_state(sandbar, state, &sandbar->why, sandbar->user);
}

/* The end: nothing is tried any more, and everybody who waits is told. */
static void finish_with(struct sandbar *sandbar, enum sandbar_state state)
{
	sandbar->phase = PHASE_OVER;
	transport_set_timer(sandbar->transport, -1);
	requests_fail(&sandbar->requests, sandbar, &sandbar->why);
	channels_close(sandbar, &sandbar->why);
	tell(sandbar, state);
}

static void attempt(struct sandbar *sandbar)
{
	sandbar->phase = PHASE_OPENING;
	transport_set_timer(sandbar->transport, -1);
	transport_open(sandbar->transport);
}

static void wait_for_attempt(struct sandbar *sandbar)
{
	int64_t gone_ms = now_ms() - sandbar->cut_at_ms;
	uint32_t delay_ms = backoff_next(&sandbar->backoff, random_number());

	if (sandbar->give_up_ms && gone_ms >= sandbar->give_up_ms) {
		struct sandbar_error last = sandbar->why;
		failure_set(&sandbar->why, "closed", "no connection for %lld s: %.400s", (long long)(gone_ms / 1000),
		            last.message);
		finish_with(sandbar, SANDBAR_GIVEN_UP);
		return;
	}
	sandbar->phase = PHASE_WAITING;
	transport_set_timer(sandbar->transport, delay_ms);
}

/* A connection or an attempt is gone; `why` says how. */
static void on_lost(struct sandbar *sandbar)
{
	bool was_up = sandbar->phase == PHASE_READY;

	if (!sandbar->was_ready) {
		finish_with(sandbar, SANDBAR_GIVEN_UP);
		return;
	}
	if (was_up)
		sandbar->cut_at_ms = now_ms();
	sandbar->phase = PHASE_WAITING;
	channels_cut(sandbar);
	requests_cut(&sandbar->requests, sandbar,
	             &(struct sandbar_error){
					 "cut", "the connection was cut before the answer came: whether it was carried out is not known"});
	if (was_up)
		tell(sandbar, SANDBAR_CUT);
	wait_for_attempt(sandbar);
}

static void on_hello_late(struct sandbar *sandbar)
{
	transport_drop(sandbar->transport, "the server did not answer hello");
}

static void on_greeted(struct sandbar *sandbar)
{
	bool resumed = sandbar->was_ready;

	sandbar->phase = PHASE_READY;
	sandbar->was_ready = true;
	sandbar->backoff.attempt = 0;
	transport_set_timer(sandbar->transport, -1);
	channels_attach(sandbar);
	requests_send_waiting(&sandbar->requests, sandbar->transport);
	tell(sandbar, resumed ? SANDBAR_RESUMED : SANDBAR_CONNECTED);
}

static void on_opened(struct sandbar *sandbar);

static void (*const ACTIONS[PHASE_COUNT][EVENT_COUNT])(struct sandbar *) = {
	[PHASE_OPENING] = {[EVENT_OPENED] = on_opened, [EVENT_LOST] = on_lost},
	[PHASE_GREETING] = {[EVENT_GREETED] = on_greeted, [EVENT_LOST] = on_lost, [EVENT_TIMER] = on_hello_late},
	[PHASE_READY] = {[EVENT_LOST] = on_lost},
	[PHASE_WAITING] = {[EVENT_TIMER] = attempt},
};

static void handle(struct sandbar *sandbar, enum event event)
{
	void (*action)(struct sandbar *) = ACTIONS[sandbar->phase][event];

	if (action)
		action(sandbar);
}

static bool is_lasting(const struct sandbar_error *error)
{
	return strcmp(error->code, "unavailable") != 0 && strcmp(error->code, "limit") != 0;
}

static bool read_shared_session(struct reader *reader, void *into)
{
	struct view text;

	if (!reader_str(reader, &text))
		return false;
	decode_text(into, SANDBAR_SESSION_BYTES, text);
	return true;
}

static void read_greeting(struct sandbar *sandbar, const void *result, size_t length)
{
	static const struct decode_key KEYS[] = {{"session", read_shared_session}, {NULL, NULL}};
	struct reader reader = reader_over(result, length);

	decode_map(&reader, KEYS, sandbar->shared_session);
}

static void on_hello_answered(struct sandbar *sandbar, const struct sandbar_error *error, const void *result,
                              size_t length, void *user)
{
	(void)user;
	if (sandbar->phase != PHASE_GREETING)
		return;
	if (!error) {
		read_greeting(sandbar, result, length);
		handle(sandbar, EVENT_GREETED);
		return;
	}
	sandbar->why = *error;
	if (is_lasting(error))
		finish_with(sandbar, SANDBAR_GIVEN_UP);
	transport_drop(sandbar->transport, error->message);
}

static void on_opened(struct sandbar *sandbar)
{
	struct writer params;

	sandbar->phase = PHASE_GREETING;
	transport_set_timer(sandbar->transport, HELLO_MS);
	writer_init(&params, LIMIT_HELLO_BYTES);
	writer_map(&params, 4);
	writer_key_str(&params, "token", sandbar->token);
	writer_key_uint(&params, "version", WIRE_VERSION);
	writer_key_str(&params, "client", sandbar->client);
	writer_str(&params, "client_id");
	writer_bin(&params, sandbar->client_id, sizeof(sandbar->client_id));
	struct request *row = requests_add(&sandbar->requests, "hello", params.data, params.length, &sandbar->why);
	writer_finish(&params);
	if (!row) {
		transport_drop(sandbar->transport, sandbar->why.message);
		return;
	}
	row->answer = on_hello_answered;
	requests_send(row, sandbar->transport);
}

/* ---- What the transport tells ---- */

static void transport_opened(void *user)
{
	handle(user, EVENT_OPENED);
}

static void transport_timer(void *user)
{
	handle(user, EVENT_TIMER);
}

static void transport_room(void *user)
{
	channels_pump(user);
}

static void transport_watched(void *user)
{
	struct sandbar *sandbar = user;

	watches_dispatch(&sandbar->watches, sandbar);
}

static bool is_final(unsigned code)
{
	for (size_t i = 0; i < sizeof(FINAL_CODES) / sizeof(FINAL_CODES[0]); i++)
		if (FINAL_CODES[i] == code)
			return true;
	return false;
}

static void transport_closed(void *user, unsigned code, const char *why)
{
	struct sandbar *sandbar = user;

	if (sandbar->phase == PHASE_OVER)
		return;
	bool told_by_hello = sandbar->phase == PHASE_GREETING && sandbar->why.code[0];
	if (!told_by_hello)
		failure_set(&sandbar->why, sandbar->was_ready ? "cut" : "connect", "%s", why);
	if (is_final(code))
		finish_with(sandbar, SANDBAR_GIVEN_UP);
	else
		handle(sandbar, EVENT_LOST);
}

static void transport_message(void *user, const uint8_t *data, size_t length)
{
	struct sandbar *sandbar = user;
	struct check_report report;
	uint64_t channel;

	if (sandbar->phase != PHASE_GREETING && sandbar->phase != PHASE_READY)
		return;
	if (!check_message(data, length, &report)) {
		connection_violated(sandbar, report.what);
		return;
	}
	struct reader reader = reader_over(data, length);
	if (!reader_uint(&reader, &channel))
		connection_violated(sandbar, "a message does not begin with a channel");
	else if (channel == 0)
		control_message(sandbar, &reader);
	else
		channel_message(sandbar, channel, &reader);
}

static const struct transport_events TRANSPORT_EVENTS = {
	.opened = transport_opened,
	.message = transport_message,
	.room = transport_room,
	.closed = transport_closed,
	.timer = transport_timer,
	.watched = transport_watched,
};

/* ---- Channel 0 ---- */

static void on_response(struct sandbar *sandbar, const struct rpc *rpc)
{
	struct request *row = rpc->id ? requests_find(&sandbar->requests, rpc->id) : NULL;
	struct reader error = rpc->error;
	struct sandbar_error decoded;

	if (!row || !row->is_sent)
		return;
	if (decode_error(&error, &decoded))
		requests_answer(&sandbar->requests, row, sandbar, &decoded, NULL, 0);
	else
		requests_answer(&sandbar->requests, row, sandbar, NULL, rpc->result.at,
		                (size_t)(rpc->result.end - rpc->result.at));
}

static void on_notice(struct sandbar *sandbar, const struct rpc *rpc)
{
	struct reader params = rpc->params;
	struct sandbar_error error;

	if (view_equals(rpc->method, "channel.closed"))
		channel_closed_notice(sandbar, &params);
	else if (view_equals(rpc->method, "error") && decode_error(&params, &error))
		channels_error(sandbar, &error);
}

void control_message(struct sandbar *sandbar, struct reader *reader)
{
	struct rpc rpc;
	bool has_id;
	const char *what;

	while (reader_type(reader) != VALUE_END && sandbar->phase != PHASE_OVER) {
		if (!rpc_read(reader, &rpc, &has_id, &what)) {
			connection_violated(sandbar, what);
			return;
		}
		if (rpc.type == RPC_RESPONSE)
			on_response(sandbar, &rpc);
		else if (rpc.type == RPC_NOTICE)
			on_notice(sandbar, &rpc);
	}
}

void connection_violated(struct sandbar *sandbar, const char *what)
{
	failure_set(&sandbar->why, "protocol", "the server broke sandbar.v1: %s", what);
	finish_with(sandbar, SANDBAR_GIVEN_UP);
	transport_drop(sandbar->transport, sandbar->why.message);
}

bool connection_is_ready(const struct sandbar *sandbar)
{
	return sandbar->phase == PHASE_READY;
}

void connection_send(struct sandbar *sandbar, struct writer *message)
{
	if (connection_is_ready(sandbar))
		transport_send(sandbar->transport, message);
	else
		writer_finish(message);
}

/* ---- The public side ---- */

static char *copy_text(const char *text)
{
	char *copy = strdup(text);

	if (!copy)
		abort();
	return copy;
}

static int check_options(const struct sandbar_options *options, struct url *url, struct sandbar_error *error)
{
	if (!options->url || !options->token)
		return failure_set(error, "usage", "an address and a token are needed");
	if (strlen(options->token) > TOKEN_BYTES)
		return failure_set(error, "usage", "the token is longer than %d bytes", TOKEN_BYTES);
	return url_parse(url, options->url, error);
}

static int set_up(struct sandbar *sandbar, const struct url *url, const char *ca_file, struct sandbar_error *error)
{
	if (getrandom(sandbar->client_id, sizeof(sandbar->client_id), 0) != sizeof(sandbar->client_id))
		return failure_set(error, "system", "getrandom: %s", strerror(errno));
	if (watches_init(&sandbar->watches, error) < 0)
		return -1;
	sandbar->transport = transport_create(url, ca_file, sandbar->watches.epoll, &TRANSPORT_EVENTS, sandbar, error);
	return sandbar->transport ? 0 : -1;
}

struct sandbar *sandbar_create(const struct sandbar_options *options, struct sandbar_error *error)
{
	struct url url;
	struct sandbar *sandbar;

	if (check_options(options, &url, error) < 0)
		return NULL;
	sandbar = calloc(1, sizeof(*sandbar));
	if (!sandbar)
		abort();
	sandbar->token = copy_text(options->token);
	decode_text(sandbar->client, sizeof(sandbar->client),
	            (struct view){options->client ? options->client : "libsandbar",
	                          options->client ? (uint32_t)strlen(options->client) : sizeof("libsandbar") - 1});
	sandbar->give_up_ms = options->give_up_ms;
	sandbar->on_state = options->on_state;
	sandbar->user = options->user;
	sandbar->backoff = (struct backoff){BACKOFF_BASE_MS, BACKOFF_MOST_MS, 0};
	sandbar->watches.epoll = -1;
	if (set_up(sandbar, &url, options->ca_file, error) == 0)
		return sandbar;
	sandbar_destroy(sandbar);
	return NULL;
}

void sandbar_destroy(struct sandbar *sandbar)
{
	if (!sandbar)
		return;
	sandbar->phase = PHASE_OVER;
	bool owns_epoll = !sandbar->transport;
	transport_destroy(sandbar->transport);
	watches_finish(&sandbar->watches, owns_epoll);
	channels_free(sandbar);
	requests_finish(&sandbar->requests);
	explicit_bzero(sandbar->token, strlen(sandbar->token));
	free(sandbar->token);
	free(sandbar);
}

void sandbar_open(struct sandbar *sandbar)
{
	if (sandbar->phase != PHASE_IDLE)
		return;
	sandbar->state = SANDBAR_CONNECTING;
	attempt(sandbar);
}

enum sandbar_state sandbar_state(const struct sandbar *sandbar)
{
	return sandbar->state;
}

const char *sandbar_shared_session(const struct sandbar *sandbar)
{
	return sandbar->shared_session;
}

void sandbar_interrupt(struct sandbar *sandbar)
{
	sandbar->is_interrupted = true;
}

void sandbar_cut(struct sandbar *sandbar)
{
	transport_drop(sandbar->transport, "cut by sandbar_cut()");
}

int sandbar_run_once(struct sandbar *sandbar, int timeout_ms, struct sandbar_error *error)
{
	if (sandbar->phase != PHASE_OVER) {
		sandbar->callback_depth++;
		transport_service(sandbar->transport, sandbar->watches.always_ready ? 0 : timeout_ms);
		if (sandbar->watches.always_ready)
			watches_dispatch(&sandbar->watches, sandbar);
		channels_sweep(sandbar);
		sandbar->callback_depth--;
	}
	if (sandbar->phase == PHASE_OVER)
		return failure_set(error, sandbar->why.code[0] ? sandbar->why.code : "closed", "%s", sandbar->why.message);
	return 0;
}

int sandbar_watch_fd(struct sandbar *sandbar, int fd, unsigned events, sandbar_watch_callback callback, void *user,
                     struct sandbar_error *error)
{
	return watches_set(&sandbar->watches, fd, events, callback, user, error);
}

void sandbar_unwatch_fd(struct sandbar *sandbar, int fd)
{
	watches_remove(&sandbar->watches, fd);
}

uint32_t sandbar_request(struct sandbar *sandbar, const char *method, const void *params, size_t length,
                         sandbar_answer answer, void *user, struct sandbar_error *error)
{
	if (sandbar->phase == PHASE_OVER) {
		failure_set(error, "closed", "%s", sandbar->why.message[0] ? sandbar->why.message : "the connection is closed");
		return 0;
	}
	struct request *row = requests_add(&sandbar->requests, method, params, length, error);
	if (!row)
		return 0;
	row->answer = answer;
	row->user = user;
	uint32_t id = row->id;
	if (connection_is_ready(sandbar))
		requests_send_waiting(&sandbar->requests, sandbar->transport);
	return id;
}

void sandbar_cancel(struct sandbar *sandbar, uint32_t request)
{
	struct request *row = request ? requests_find(&sandbar->requests, request) : NULL;
	struct writer message;

	if (!row)
		return;
	if (!row->is_sent) {
		requests_answer(&sandbar->requests, row, sandbar,
		                &(struct sandbar_error){"cancelled", "the request was cancelled before it was sent"}, NULL, 0);
		return;
	}
	transport_message_begin(&message);
	writer_uint(&message, 0);
	writer_array(&message, 2);
	writer_uint(&message, RPC_CANCEL);
	writer_uint(&message, request);
	connection_send(sandbar, &message);
}
