#include "transport.h"

#include "failure.h"
#include "protocol/wire.h"

#include <libwebsockets.h>
#include <stdlib.h>
#include <string.h>

enum {
	QUEUE_ROOM_BYTES = 256 * 1024,
	SOCKET_READ_BYTES = 128 * 1024,
	SOCKET_WRITE_BYTES = 128 * 1024,
	DESCRIPTORS = 64, /* of libwebsockets: the socket, the watched one, its own pipe, and attempts */
	CLOSE_WAIT_MS = 500,
	CONNECT_SECONDS = 10,
	WHY_BYTES = 256,
};

const size_t TRANSPORT_HEADROOM = LWS_PRE;

struct outgoing {
	struct outgoing *next;
	size_t length; /* with the headroom */
	uint8_t *data;
};

struct transport {
	struct url url;
	const struct transport_events *events;
	void *user;
	struct lws_context *context;
	struct lws *socket; /* NULL: none */
	bool is_open, is_closing, is_destroying;
	struct outgoing *first, **last;
	size_t queued;
	uint8_t *assembly; /* fragments of a message that is not yet whole */
	size_t assembled, assembly_size;
	char why[WHY_BYTES]; /* why it is about to be closed, if we do it */
	unsigned peer_code;
	lws_sorted_usec_list_t timer, wake;
};

/* What the server's PING_SECONDS and DEAD_SECONDS are to it: how long silence may last before we look, and leave. */
static const lws_retry_bo_t VALIDITY = {
	.secs_since_valid_ping = LIMIT_PING_SECONDS + 5,
	.secs_since_valid_hangup = LIMIT_DEAD_SECONDS + 5,
};

static void drop_queue(struct transport *transport)
{
	while (transport->first) {
		struct outgoing *outgoing = transport->first;
		transport->first = outgoing->next;
		free(outgoing->data);
		free(outgoing);
	}
	transport->last = &transport->first;
	transport->queued = 0;
}

static void set_why(struct transport *transport, const char *why)
{
	if (transport->why[0] == '\0')
		snprintf(transport->why, sizeof(transport->why), "%s", why);
}

static void on_gone(struct transport *transport, const char *why)
{
	if (!transport->socket)
		return;
	set_why(transport, why);
	transport->socket = NULL;
	transport->is_open = false;
	transport->assembled = 0;
	drop_queue(transport);
	if (!transport->is_destroying)
		transport->events->closed(transport->user, transport->peer_code, transport->why);
}

static int write_next(struct transport *transport)
{
	struct outgoing *outgoing = transport->first;

	if (!outgoing)
		return 0;
	size_t length = outgoing->length - LWS_PRE;
	if (lws_write(transport->socket, outgoing->data + LWS_PRE, length, LWS_WRITE_BINARY) < (int)length)
		return -1;
	transport->first = outgoing->next;
	if (!transport->first)
		transport->last = &transport->first;
	transport->queued -= outgoing->length;
	free(outgoing->data);
	free(outgoing);
	return 0;
}

static int on_writable(struct transport *transport)
{
	bool was_full = !transport_has_room(transport);

	if (transport->is_closing && !transport->first) {
		lws_close_reason(transport->socket, LWS_CLOSE_STATUS_NORMAL, NULL, 0);
		return -1;
	}
	if (write_next(transport) < 0)
		return -1;
	if (transport->first || transport->is_closing)
		lws_callback_on_writable(transport->socket);
	if (was_full && transport_has_room(transport))
		transport->events->room(transport->user);
	return 0;
}

static void keep_fragment(struct transport *transport, const void *data, size_t length)
{
	size_t needed = transport->assembled + length;

	if (needed > transport->assembly_size) {
		transport->assembly_size = needed > LIMIT_MESSAGE_BYTES / 2 ? LIMIT_MESSAGE_BYTES : needed * 2;
		transport->assembly = realloc(transport->assembly, transport->assembly_size);
		if (!transport->assembly)
			abort();
	}
	memcpy(transport->assembly + transport->assembled, data, length);
	transport->assembled = needed;
}

/* Bound first: libwebsockets has no largest message of its own. */
static int on_received(struct transport *transport, struct lws *socket, const void *data, size_t length)
{
	size_t remaining = lws_remaining_packet_payload(socket);
	bool whole = remaining == 0 && lws_is_final_fragment(socket);

	if (!lws_frame_is_binary(socket)) {
		set_why(transport, "the server sent text");
		return -1;
	}
	if (remaining > LIMIT_MESSAGE_BYTES || transport->assembled + length + remaining > LIMIT_MESSAGE_BYTES) {
		set_why(transport, "the server sent a message of more than 4 MiB");
		return -1;
	}
	if (whole && transport->assembled == 0) {
		transport->events->message(transport->user, data, length);
	} else {
		keep_fragment(transport, data, length);
		if (whole) {
			size_t assembled = transport->assembled;
			transport->assembled = 0;
			transport->events->message(transport->user, transport->assembly, assembled);
		}
	}
	return transport->why[0] ? -1 : 0;
}

static void on_peer_close(struct transport *transport, const uint8_t *data, size_t length)
{
	char why[WHY_BYTES];

	if (length < 2)
		return;
	transport->peer_code = (unsigned)data[0] << 8 | data[1];
	snprintf(why, sizeof(why), "the server closed the connection (%u%s%.*s)", transport->peer_code,
	         length > 2 ? ": " : "", (int)(length - 2), (const char *)data + 2);
	set_why(transport, why);
}

static int on_event(struct lws *socket, enum lws_callback_reasons reason, void *unused, void *in, size_t length)
{
	struct transport *transport = lws_context_user(lws_get_context(socket));

	(void)unused;
	switch (reason) {
	case LWS_CALLBACK_RAW_RX_FILE:
		if (!transport->is_destroying)
			transport->events->watched(transport->user);
		return 0;
	case LWS_CALLBACK_CLIENT_ESTABLISHED:
		transport->is_open = true;
		transport->events->opened(transport->user);
		return 0;
	case LWS_CALLBACK_CLIENT_RECEIVE:
		return transport->is_destroying ? 0 : on_received(transport, socket, in, length);
	case LWS_CALLBACK_CLIENT_WRITEABLE:
		return transport->why[0] ? -1 : on_writable(transport);
	case LWS_CALLBACK_WS_PEER_INITIATED_CLOSE:
		on_peer_close(transport, in, length);
		return 0;
	case LWS_CALLBACK_OPENSSL_PERFORM_SERVER_CERT_VERIFICATION:
		if (length == 0) /* OpenSSL found it wrong; what follows says less */
			set_why(transport, "the server's certificate is not trusted here, or not one of this host (see --ca-file)");
		return 0;
	case LWS_CALLBACK_CLIENT_CONNECTION_ERROR:
		on_gone(transport, in && length ? (const char *)in : "no connection");
		return 0;
	case LWS_CALLBACK_CLIENT_CLOSED:
		on_gone(transport, "the connection was cut");
		return 0;
	default:
		return 0;
	}
}

static const struct lws_protocols PROTOCOLS[] = {
	{WIRE_SUBPROTOCOL, on_event, 0, SOCKET_READ_BYTES, 0, NULL, SOCKET_WRITE_BYTES},
	{NULL, NULL, 0, 0, 0, NULL, 0},
};

static struct lws_context *create_context(struct transport *transport, const char *ca_file)
{
	struct lws_context_creation_info info = {
		.port = CONTEXT_PORT_NO_LISTEN,
		.protocols = PROTOCOLS,
		.gid = -1,
		.uid = -1,
		.user = transport,
		.options = transport->url.tls ? LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT : 0,
		.fd_limit_per_thread = DESCRIPTORS,
		.connect_timeout_secs = CONNECT_SECONDS,
		.pt_serv_buf_size = SOCKET_READ_BYTES,
		.client_ssl_ca_filepath = transport->url.tls ? ca_file : NULL,
		.retry_and_idle_policy = &VALIDITY,
	};

	lws_set_log_level(0, NULL);
	return lws_create_context(&info);
}

struct transport *transport_create(const struct url *url, const char *ca_file, int watch_fd,
                                   const struct transport_events *events, void *user, struct sandbar_error *error)
{
	struct transport *transport = calloc(1, sizeof(*transport));
	lws_sock_file_fd_type adopted = {.filefd = watch_fd};

	if (!transport)
		abort();
	transport->url = *url;
	transport->events = events;
	transport->user = user;
	transport->last = &transport->first;
	transport->context = create_context(transport, ca_file);
	if (transport->context && lws_adopt_descriptor_vhost(lws_get_vhost_by_name(transport->context, "default"),
	                                                     LWS_ADOPT_RAW_FILE_DESC, adopted, WIRE_SUBPROTOCOL, NULL))
		return transport;
	failure_set(error, "system", "libwebsockets could not be set up%s",
	            ca_file && url->tls ? " (is the file of certificates readable?)" : "");
	transport_destroy(transport);
	return NULL;
}

static void close_softly(struct transport *transport)
{
	lws_usec_t deadline = lws_now_usecs() + CLOSE_WAIT_MS * LWS_US_PER_MS;

	transport->is_closing = true;
	if (transport->is_open)
		lws_callback_on_writable(transport->socket);
	while (transport->is_open && lws_now_usecs() < deadline)
		transport_service(transport, CLOSE_WAIT_MS);
}

void transport_destroy(struct transport *transport)
{
	if (!transport)
		return;
	transport->is_destroying = true;
	if (transport->context) {
		close_softly(transport);
		lws_sul_cancel(&transport->timer);
		lws_sul_cancel(&transport->wake);
		lws_context_destroy(transport->context);
	}
	drop_queue(transport);
	free(transport->assembly);
	free(transport);
}

/* libwebsockets may report a failure from inside the call, or only return NULL. */
void transport_open(struct transport *transport)
{
	struct lws_client_connect_info info = {
		.context = transport->context,
		.address = transport->url.host,
		.port = transport->url.port,
		.path = transport->url.path,
		.host = transport->url.authority,
		.protocol = WIRE_SUBPROTOCOL,
		.ssl_connection = transport->url.tls ? LCCSCF_USE_SSL : 0,
		.alpn = "http/1.1",
		.pwsi = &transport->socket,
		.retry_and_idle_policy = &VALIDITY,
	};

	transport->why[0] = '\0';
	transport->peer_code = 0;
	transport->is_closing = false;
	transport->assembled = 0;
	transport->socket = NULL;
	if (!lws_client_connect_via_info(&info) && transport->why[0] == '\0') {
		transport->socket = NULL;
		set_why(transport, "no connection");
		transport->events->closed(transport->user, 0, transport->why);
	}
}

void transport_drop(struct transport *transport, const char *why)
{
	set_why(transport, why);
	if (transport->socket)
		lws_set_timeout(transport->socket, PENDING_TIMEOUT_USER_OK, LWS_TO_KILL_ASYNC);
}

void transport_message_begin(struct writer *message)
{
	static const uint8_t headroom[LWS_PRE];

	writer_init(message, LWS_PRE + LIMIT_MESSAGE_BYTES);
	writer_raw(message, headroom, sizeof(headroom));
}

void transport_send(struct transport *transport, struct writer *message)
{
	size_t length;
	uint8_t *data = writer_steal(message, &length);
	struct outgoing *outgoing = malloc(sizeof(*outgoing));

	if (!outgoing)
		abort();
	if (!transport->is_open) {
		free(data);
		free(outgoing);
		return;
	}
	*outgoing = (struct outgoing){.length = length, .data = data};
	*transport->last = outgoing;
	transport->last = &outgoing->next;
	transport->queued += length;
	lws_callback_on_writable(transport->socket);
}

bool transport_has_room(const struct transport *transport)
{
	return transport->is_open && transport->queued < QUEUE_ROOM_BYTES;
}

static void on_timer(lws_sorted_usec_list_t *timer)
{
	struct transport *transport = lws_container_of(timer, struct transport, timer);

	transport->events->timer(transport->user);
}

static void on_wake(lws_sorted_usec_list_t *timer)
{
	(void)timer;
}

void transport_set_timer(struct transport *transport, int64_t delay_ms)
{
	lws_sul_schedule(transport->context, 0, &transport->timer, on_timer,
	                 delay_ms < 0 ? (lws_usec_t)LWS_SET_TIMER_USEC_CANCEL : delay_ms * LWS_US_PER_MS + 1);
}

/* lws_service() decides for itself how long it waits; a timer of ours ends the wait. */
void transport_service(struct transport *transport, int timeout_ms)
{
	if (timeout_ms > 0)
		lws_sul_schedule(transport->context, 0, &transport->wake, on_wake, timeout_ms * LWS_US_PER_MS);
	lws_service(transport->context, timeout_ms == 0 ? -1 : 0);
	if (timeout_ms > 0)
		lws_sul_schedule(transport->context, 0, &transport->wake, on_wake, LWS_SET_TIMER_USEC_CANCEL);
}
