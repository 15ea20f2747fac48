#include "connection.h"

#include "http.h"
#include "server/base/log.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

_Static_assert(CHANNEL_ROOM >= LWS_PRE, "a channel's message has room for the WebSocket header");

enum { PING_BYTES = 4, EXIT_SECONDS = 1 };

struct outgoing {
	TAILQ_ENTRY(outgoing) link;
	size_t length;
	uint8_t bytes[]; /* LWS_PRE, then the message */
};

void connection_wake(struct connection *connection)
{
	if (connection->is_asked_to_write)
		return;
	connection->is_asked_to_write = true;
	lws_callback_on_writable(connection->wsi);
}

/* What was made for this client alone and waits for it. */
static size_t waiting_bytes(const struct connection *connection)
{
	size_t bytes = connection->queue_bytes;
	const struct attachment *attachment;
	TAILQ_FOREACH(attachment, &connection->attachments, link)
		bytes += attachment->channel->own.length;
	return bytes;
}

/* While a client does not take what its requests and frames brought about, no further ones are read from it. */
static void throttle(struct connection *connection)
{
	bool is_high = waiting_bytes(connection) > (connection->is_throttled ? QUEUE_HIGH / 4 : QUEUE_HIGH);
	if (is_high == connection->is_throttled)
		return;
	connection->is_throttled = is_high;
	lws_rx_flow_control(connection->wsi, !is_high);
}

static void drop_outgoing(struct connection *connection, struct outgoing *outgoing)
{
	TAILQ_REMOVE(&connection->queue, outgoing, link);
	connection->queue_count--;
	connection->queue_bytes -= outgoing->length;
	connection->gateway->server.queued_bytes -= outgoing->length;
	free(outgoing);
}

static void drop_answers(struct connection *connection)
{
	while (!TAILQ_EMPTY(&connection->queue))
		drop_outgoing(connection, TAILQ_FIRST(&connection->queue));
}

/* Its socket has come to an end on both sides, and lws is to notice. Asked to end it, lws would first wait until what it holds for
 * it has been read, and then for an answer to that, ten seconds and more. */
static void kill_now(const struct connection *connection)
{
	shutdown(lws_get_socket_fd(connection->wsi), SHUT_RDWR);
	lws_rx_flow_control(connection->wsi, 1);
}

/* It leaves its channels, so that nothing waits for who is not here any more; then, if it has not closed by itself, it is killed. */
static void on_exit_due(struct ev_loop *loop, ev_timer *timer, int events)
{
	(void)events;
	struct connection *connection = timer->data;
	bool has_time = !connection->is_out && !connection->is_cut;
	struct attachment *attachment;
	connection->is_out = true;
	TAILQ_FOREACH(attachment, &connection->attachments, link)
		attachment->channel->has_left |= connection->is_put_out;
	connection_detach_all(connection);
	if (!has_time) {
		kill_now(connection);
		return;
	}
	ev_timer_set(timer, EXIT_SECONDS, 0.);
	ev_timer_start(loop, timer);
}

/* It ends soon, whatever it reads: not now, since its message may be under way, or somebody may walk over its channels. */
static void leave(struct connection *connection)
{
	if (!connection->is_out)
		ev_timer_start(connection->gateway->loop, &connection->exit);
}

/* End it without a close frame, which would stand behind what it does not read. */
static void cut(struct connection *connection, enum log_severity severity, const char *why)
{
	connection->is_cut = true;
	connection->close_code = CLOSE_GOING_AWAY;
	drop_answers(connection);
	leave(connection);
	log_write(severity, NULL, "a connection is cut", LOG_FIELDS(log_text("why", why)));
}

/* Together the connections let more answers wait than the server keeps: the one with the most of them goes. */
static void cut_largest(struct gateway *gateway)
{
	struct connection *connection, *largest = NULL;
	LIST_FOREACH(connection, &gateway->connections, link)
		if (!connection->is_cut &&
		    (!largest || connection->queue_bytes + connection->unflushed > largest->queue_bytes + largest->unflushed))
			largest = connection;
	if (largest)
		cut(largest, LOG_WARN, "of all it has the most unread answers, which are too many together");
}

void connection_send(struct connection *connection, const struct writer *message)
{
	if (connection->is_cut || connection->is_closed)
		return;
	struct outgoing *outgoing = malloc(sizeof *outgoing + LWS_PRE + message->length);
	if (!outgoing)
		abort();
	outgoing->length = message->length;
	memcpy(outgoing->bytes + LWS_PRE, message->data, message->length);
	TAILQ_INSERT_TAIL(&connection->queue, outgoing, link);
	connection->queue_count++;
	connection->queue_bytes += message->length;
	connection->gateway->server.queued_bytes += message->length;
	if (connection->gateway->server.queued_bytes > SERVER_ANSWER_BYTES)
		cut_largest(connection->gateway);
	throttle(connection);
	connection_wake(connection);
}

void connection_close(struct connection *connection, enum close_code code, const char *text)
{
	if (connection->close_code != 0)
		return;
	connection->close_code = (int)code;
	connection->close_text = text;
	connection_wake(connection);
}

/* --- writing ------------------------------------------------------------------------------------------------- */

/* lws has written what it held, or the connection ends. */
static void forget_unflushed(struct connection *connection)
{
	connection->gateway->server.queued_bytes -= connection->unflushed;
	connection->unflushed = 0;
}

/* Would a message of LENGTH have held more, had it been let? Frames are whole: if one did not fit, more than half was full. */
static bool was_bounded(const struct connection *connection, size_t length)
{
	return length > connection->write_bytes / 2 && connection->write_bytes < WRITE_MOST;
}

/* A message of LENGTH was written whole: messages become larger when the socket has taken several full ones. */
static void note_whole(struct connection *connection, size_t length)
{
	if (!was_bounded(connection, length))
		return;
	connection->whole_bytes += length;
	if (connection->whole_bytes < WRITES_BEFORE_GROWTH * connection->write_bytes)
		return;
	size_t twice = 2 * connection->write_bytes;
	connection->write_bytes = twice <= WRITE_MOST / 2 ? twice : WRITE_MOST; /* the last step is not quite twice */
	connection->whole_bytes = 0;
}

/* -1: the connection is broken. A short write leaves the rest with lws; then the next ones are made small. */
static int write_message(struct connection *connection, uint8_t *message, size_t length)
{
	int wrote = lws_write(connection->wsi, message, length, LWS_WRITE_BINARY);
	if (wrote < (int)length)
		return -1;
	connection->gateway->metrics.sent_messages++;
	connection->gateway->metrics.sent_bytes += length;
	if (lws_partial_buffered(connection->wsi) == 0) {
		note_whole(connection, length);
		return 0;
	}
	connection->write_bytes = WRITE_LEAST;
	connection->whole_bytes = 0;
	connection->unflushed = length;
	connection->gateway->server.queued_bytes += length;
	return 0;
}

static int write_answer(struct connection *connection)
{
	struct outgoing *outgoing = TAILQ_FIRST(&connection->queue);
	int result = write_message(connection, outgoing->bytes + LWS_PRE, outgoing->length);
	drop_outgoing(connection, outgoing);
	return result;
}

/* The first attachment that has something is served and goes to the end of the row. Returns the bytes, or -1. */
static ssize_t write_channel(struct connection *connection)
{
	for (size_t tried = 0; tried < connection->attachment_count; tried++) {
		struct attachment *attachment = TAILQ_FIRST(&connection->attachments);
		TAILQ_REMOVE(&connection->attachments, attachment, link);
		TAILQ_INSERT_TAIL(&connection->attachments, attachment, link);
		size_t length;
		const uint8_t *message = channel_next(attachment->channel, connection->write_bytes, &length);
		if (message)
			return write_message(connection, (uint8_t *)(uintptr_t)message, length) < 0 ? -1 : (ssize_t)length;
		const char *over = channel_over(attachment->channel);
		if (over) {
			connection_channel_over(attachment, over);
			return 1; /* its notice stands in the queue */
		}
	}
	return 0;
}

/* What the callback returns that closes the connection, as was asked. The client's answer is to be read, whatever else is not. */
static int write_close(struct connection *connection)
{
	const char *text = connection->close_text; /* at most 123 bytes, RFC 6455 §5.5 */
	lws_close_reason(connection->wsi, (enum lws_close_status)connection->close_code, (uint8_t *)(uintptr_t)text,
	                 strlen(text));
	lws_rx_flow_control(connection->wsi, 1);
	return -1;
}

/* A ping goes before everything else; who does not read at all is found by the pong that does not come. Returns the bytes, or -1. */
static int write_ping(struct connection *connection)
{
	unsigned char frame[LWS_PRE + PING_BYTES] = {0}; /* lws does not tell of a pong without a payload */
	if (!connection->is_ping_due || lws_send_pipe_choked(connection->wsi))
		return 0;
	connection->is_ping_due = false;
	return lws_write(connection->wsi, frame + LWS_PRE, PING_BYTES, LWS_WRITE_PING);
}

static bool has_more(const struct connection *connection)
{
	const struct attachment *attachment;
	if (connection->queue_count > 0 || connection->close_code != 0)
		return true;
	TAILQ_FOREACH(attachment, &connection->attachments, link)
		if (channel_has_more(attachment->channel) || channel_over(attachment->channel))
			return true;
	return false;
}

/* The socket can take something: lws has asked. Whether it can take more is asked only where there is more. */
static int write_turn(struct connection *connection)
{
	connection->is_asked_to_write = false;
	if (connection->is_cut)
		return -1;
	if (connection->unflushed > 0 && !lws_partial_buffered(connection->wsi))
		forget_unflushed(connection);
	if (connection->is_closed)
		return 0;
	int pinged = write_ping(connection);
	if (pinged < 0)
		return -1;
	for (ssize_t left = WRITE_TURN - pinged; has_more(connection);) {
		if (left < WRITE_TURN && (left <= 0 || lws_send_pipe_choked(connection->wsi))) {
			connection_wake(connection);
			return 0;
		}
		if (connection->queue_count > 0) {
			left -= (ssize_t)TAILQ_FIRST(&connection->queue)->length;
			if (write_answer(connection) < 0)
				return -1;
			continue;
		}
		if (connection->close_code != 0)
			return write_close(connection);
		ssize_t wrote = write_channel(connection);
		if (wrote < 0)
			return -1;
		if (wrote == 0)
			return 0; /* nothing is left to write */
		left -= wrote;
	}
	return 0;
}

static int on_writable(struct connection *connection)
{
	int result = write_turn(connection);
	if (result == 0 && !connection->is_closed)
		throttle(connection);
	return result;
}

/* --- reading ------------------------------------------------------------------------------------------------- */

/* What has come of a message, if any of one has. */
static void drop_assembly(struct connection *connection)
{
	connection->gateway->server.reassembly_bytes -= connection->assembly_room;
	free(connection->assembly);
	connection->assembly = NULL;
	connection->assembled = connection->assembly_room = 0;
}

/* Nothing more is read from it. Its close frame is not written from here: lws, if it still holds some of a message, would leave it out. */
static int refuse(struct connection *connection, enum close_code code, const char *text)
{
	drop_assembly(connection);
	connection_close(connection, code, text);
	leave(connection);
	return 0;
}

/* All have begun more than the server keeps: whose message has been unfinished for longest, goes. False: that is SELF. */
static bool make_room(struct connection *self)
{
	struct connection *connection, *oldest = NULL;
	LIST_FOREACH(connection, &self->gateway->connections, link)
		if (connection->assembly_room > 0 && (!oldest || connection->assembly_begun < oldest->assembly_begun))
			oldest = connection;
	if (!oldest || oldest == self)
		return false;
	refuse(oldest, CLOSE_TOO_BIG, "unfinished for longest, of too many unfinished messages");
	return true;
}

static bool assemble(struct connection *connection, const void *data, size_t length)
{
	size_t needed = connection->assembled + length;
	if (needed > connection->assembly_room) {
		size_t room = connection->assembly_room ? connection->assembly_room : 8192;
		while (room < needed)
			room *= 2;
		uint64_t *sum = &connection->gateway->server.reassembly_bytes;
		if (connection->assembly_room == 0)
			connection->assembly_begun = ev_now(connection->gateway->loop);
		while (*sum - connection->assembly_room + room > SERVER_UNFINISHED_BYTES)
			if (!make_room(connection))
				return false;
		uint8_t *grown = realloc(connection->assembly, room);
		if (!grown)
			abort();
		*sum += room - connection->assembly_room;
		connection->assembly = grown;
		connection->assembly_room = room;
	}
	if (length > 0) /* an empty fragment has no bytes, and no place */
		memcpy(connection->assembly + connection->assembled, data, length);
	connection->assembled = needed;
	return true;
}

static int receive(struct connection *connection, const uint8_t *data, size_t length)
{
	struct lws *wsi = connection->wsi;
	if (connection->close_code != 0)
		return 0; /* it is on its way out */
	if (!lws_frame_is_binary(wsi))
		return refuse(connection, CLOSE_TEXT, "text message; only binary ones are read");
	size_t most = connection->is_greeted ? LIMIT_MESSAGE_BYTES : LIMIT_HELLO_BYTES;
	size_t rest = lws_remaining_packet_payload(wsi);
	if (connection->assembled + length > most || rest > most - connection->assembled - length)
		return refuse(connection, CLOSE_TOO_BIG, "message over the limit");
	bool is_last = lws_is_final_fragment(wsi) && rest == 0;
	connection->gateway->metrics.received_bytes += length;
	connection->gateway->metrics.received_messages += is_last;
	bool is_whole = is_last && connection->assembled == 0;
	if (!is_whole && !assemble(connection, data, length))
		return refuse(connection, CLOSE_TOO_BIG, "too many unfinished messages");
	if (!is_last)
		return 0;
	if (is_whole)
		connection_message(connection, data, length);
	else
		connection_message(connection, connection->assembly, connection->assembled);
	drop_assembly(connection);
	if (connection->close_code != 0)
		leave(connection);
	else
		throttle(connection);
	return 0;
}

/* --- lifecycle ----------------------------------------------------------------------------------------------- */

static void on_no_hello(struct ev_loop *loop, ev_timer *timer, int events)
{
	(void)loop, (void)events;
	connection_close(timer->data, CLOSE_NO_HELLO, "no hello in time");
}

static void on_ping(struct ev_loop *loop, ev_timer *timer, int events)
{
	(void)loop, (void)events;
	struct connection *connection = timer->data;
	if (connection->unanswered >= LIMIT_DEAD_SECONDS / LIMIT_PING_SECONDS) {
		ev_timer_stop(loop, timer);
		cut(connection, LOG_INFO, "it does not answer pings");
		return;
	}
	connection->unanswered++;
	connection->is_ping_due = true;
	connection_wake(connection);
}

void connection_expel(struct connection *connection, enum close_code code, const char *text)
{
	connection->is_put_out = true;
	connection_close(connection, code, text);
	leave(connection);
}

static void on_expired(struct ev_loop *loop, ev_periodic *periodic, int events)
{
	(void)loop, (void)events;
	connection_expel(periodic->data, CLOSE_NOT_ALLOWED, "the token has expired");
}

void connection_watch_expiry(struct connection *connection)
{
	uint64_t expires_s = connection->caller.principal.expires_s;
	if (expires_s == 0)
		return;
	/* A little late: time(2) lags behind the loop's clock, and a token whose connection was closed is worthless. */
	ev_periodic_set(&connection->expiry, (ev_tstamp)expires_s + 0.1, 0., NULL);
	ev_periodic_start(connection->gateway->loop, &connection->expiry);
}

void connections_revoked(struct server *server, const char *token_id)
{
	struct gateway *gateway = (struct gateway *)(void *)server; /* its beginning */
	struct connection *connection;
	LIST_FOREACH(connection, &gateway->connections, link)
		if (connection->is_greeted && strcmp(connection->caller.principal.id, token_id) == 0)
			connection_expel(connection, CLOSE_NOT_ALLOWED, "the token was revoked");
}

void connections_removed(struct server *server, const struct bearer *guest)
{
	struct gateway *gateway = (struct gateway *)(void *)server;
	struct connection *connection;
	LIST_FOREACH(connection, &gateway->connections, link) {
		const struct bearer bearer = caller_bearer(&connection->caller);
		if (connection->is_greeted && bearer_equals(guest, &bearer))
			connection_expel(connection, CLOSE_REMOVED, "an owner removed you");
	}
}
_Static_assert(offsetof(struct gateway, server) == 0, "what the methods see is the gateway's beginning");

static struct connection *open_connection(struct gateway *gateway, struct lws *wsi)
{
	struct connection *connection = calloc(1, sizeof *connection);
	if (!connection)
		abort();
	connection->gateway = gateway;
	connection->wsi = wsi;
	connection->write_bytes = WRITE_LEAST;
	caller_init(&connection->caller, &connection_door, &gateway->server);
	TAILQ_INIT(&connection->queue);
	TAILQ_INIT(&connection->attachments);
	LIST_INSERT_HEAD(&gateway->connections, connection, link);
	gateway->server.connections++;
	gateway->metrics.connections++;
	ev_timer_init(&connection->hello, on_no_hello, LIMIT_HELLO_SECONDS, 0.);
	connection->hello.data = connection;
	ev_timer_start(gateway->loop, &connection->hello);
	ev_timer_init(&connection->ping, on_ping, LIMIT_PING_SECONDS, LIMIT_PING_SECONDS);
	connection->ping.data = connection;
	ev_periodic_init(&connection->expiry, on_expired, 0., 0., NULL);
	connection->expiry.data = connection;
	ev_timer_start(gateway->loop, &connection->ping);
	ev_timer_init(&connection->exit, on_exit_due, 0., 0.);
	connection->exit.data = connection;
	return connection;
}

static bool client_has_connection(const struct gateway *gateway, const uint8_t client[CLIENT_ID_BYTES])
{
	const struct connection *other;
	LIST_FOREACH(other, &gateway->connections, link)
		if (other->is_greeted && memcmp(other->caller.client, client, CLIENT_ID_BYTES) == 0)
			return true;
	return false;
}

/* It closes: we asked for that, or lws found what is no frame. Until the client has answered, lws goes on asking for what is to be
 * written, and would write it behind its close frame; and how long it waits for the answer is not sure with a loop that is not its own. */
static void on_closing(struct connection *connection)
{
	connection->is_closed = true;
	leave(connection);
}

static void finish_connection(struct connection *connection)
{
	struct gateway *gateway = connection->gateway;
	LIST_REMOVE(connection, link);
	gateway->server.connections--;
	ev_timer_stop(gateway->loop, &connection->hello);
	ev_timer_stop(gateway->loop, &connection->ping);
	ev_timer_stop(gateway->loop, &connection->exit);
	ev_periodic_stop(gateway->loop, &connection->expiry);
	connection_detach_all(connection);
	caller_finish(&connection->caller);
	if (connection->is_greeted && !client_has_connection(gateway, connection->caller.client))
		sessions_client_left(&gateway->server.sessions, connection->caller.client);
	forget_unflushed(connection);
	drop_answers(connection);
	drop_assembly(connection);
	free(connection);
}

int connection_callback(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in, size_t length)
{
	struct connection **slot = user; /* lws keeps one pointer for each connection */
	switch ((int)reason) {
	case LWS_CALLBACK_FILTER_PROTOCOL_CONNECTION:
		return http_filter(wsi);
	case LWS_CALLBACK_ESTABLISHED:
		*slot = open_connection(lws_context_user(lws_get_context(wsi)), wsi);
		return 0;
	case LWS_CALLBACK_RECEIVE:
		return *slot ? receive(*slot, in, length) : 0;
	case LWS_CALLBACK_RECEIVE_PONG:
		if (*slot)
			(*slot)->unanswered = 0;
		return 0;
	case LWS_CALLBACK_SERVER_WRITEABLE:
		return *slot ? on_writable(*slot) : 0;
	case LWS_CALLBACK_WS_SERVER_DROP_PROTOCOL:
		if (*slot)
			on_closing(*slot);
		return 0;
	case LWS_CALLBACK_CLOSED:
		if (*slot)
			finish_connection(*slot);
		*slot = NULL;
		return 0;
	default:
		return 0;
	}
}
