/*
 * connection.h: the WebSocket door: one client's connection, from the handshake to its close.
 *
 * A connection belongs to the gateway and lives as long as its lws handle. Answers wait in a bounded queue and go
 * before the channels' frames; the channels take turns.
 */
#ifndef SANDBAR_CONNECTION_H
#define SANDBAR_CONNECTION_H

#include "gateway.h"
#include "protocol/check.h"

struct attachment { /* one channel of a connection */
	TAILQ_ENTRY(attachment) link;
	struct connection *connection;
	struct channel *channel;
	uint32_t number;
};

struct outgoing;

struct connection {
	LIST_ENTRY(connection) link; /* in the gateway */
	struct caller caller;        /* what the methods see; its beginning is not ours */
	struct gateway *gateway;
	struct lws *wsi;
	bool is_greeted, is_asked_to_write, is_throttled;
	bool is_cut;    /* it gets nothing any more, and ends in the next turn of the loop */
	int close_code; /* once the queue is empty; 0 = stays */
	bool is_closed; /* lws is to write the close frame, or has: nothing may follow it (RFC 6455 §5.5.1) */
	const char *close_text;
	uint8_t *assembly; /* of a message that came in parts */
	size_t assembled, assembly_room;
	ev_tstamp assembly_begun;
	TAILQ_HEAD(, outgoing) queue;
	size_t queue_count, queue_bytes;
	size_t unflushed;                     /* bytes of the message of which lws holds the rest, after a short write */
	TAILQ_HEAD(, attachment) attachments; /* the next one to be served is the first */
	size_t attachment_count;
	uint32_t last_number; /* of a channel */
	size_t write_bytes;   /* how much is put together for one write */
	size_t whole_bytes;   /* of full messages that were written whole since it changed */
	ev_timer hello, ping;
	ev_timer exit;      /* its next step */
	bool is_out;        /* it has left its channels, and ends soon */
	bool is_put_out;    /* who is there may not be any more: that is no cut that he may come back from */
	ev_periodic expiry; /* of the token, by the wall clock */
	bool is_ping_due;
	unsigned unanswered; /* pings since the last pong */
};

enum {
	WRITE_LEAST = 18 * 1024, /* two pieces of what a terminal of the usual size floods with */
	WRITE_MOST = CHANNEL_MESSAGE,
	WRITES_BEFORE_GROWTH = 4, /* full messages that go whole before they are made larger */
	WRITE_TURN = 256 * 1024,  /* bytes that a connection may write in one turn of the loop */
	QUEUE_HIGH = 1024 * 1024, /* bytes of unsent answers and own frames, over which nothing is read */
};

/* The lws callback of the subprotocol. */
int connection_callback(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in, size_t length);

/* Put one message of channel 0 into the queue: HEAD frames it ([1, id, nil, …), BODY is ready MessagePack. */
void connection_send(struct connection *connection, const struct writer *message);
/* Close it when its queue is empty. TEXT is static. */
void connection_close(struct connection *connection, enum close_code code, const char *text);
void connection_wake(struct connection *connection);
/* Close it when its principal's token expires, if it does; and now, those whose token has this id (on_revoked). */
void connection_watch_expiry(struct connection *connection);
void connections_revoked(struct server *server, const char *token_id);
/* Close those of a guest whom an owner removed (on_removed). */
void connections_removed(struct server *server, const struct bearer *guest);
/* Close it, out of its channels at the loop's next turn; answers are still delivered, if the client takes them within a second. */
void connection_expel(struct connection *connection, enum close_code code, const char *text);

/* Carry out a message, all of it (message.c). */
void connection_message(struct connection *connection, const uint8_t *data, size_t length);
void connection_notice_error(struct connection *connection, enum error_code code, const char *message);
void connection_notice_stopping(struct connection *connection, uint64_t in_ms);

extern const struct door connection_door;
void connection_detach_all(struct connection *connection);
struct attachment *connection_attachment(const struct connection *connection, uint32_t number);
/* A channel is over: tell the client, and detach. */
void connection_channel_over(struct attachment *attachment, const char *reason);

#endif
