/* What a connection's messages say: requests on channel 0, a client's frames on the others. */
#include "connection.h"
#include "protocol/frame.h"
#include "server/api/params.h"
#include "server/api/share_methods.h"
#include "server/api/token_methods.h"
#include "server/guard/gate.h"
#include "server/guard/tokens.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { NOTICE_BYTES = 4096 };

/* --- channel 0, outwards ------------------------------------------------------------------------------------- */

static struct connection *connection_of(struct caller *caller)
{
	return (struct connection *)((char *)caller - offsetof(struct connection, caller));
}

static void begin_response(struct writer *message, uint32_t id, size_t bytes)
{
	writer_init(message, bytes + 64);
	writer_uint(message, 0);
	writer_array(message, 4);
	writer_uint(message, RPC_RESPONSE);
	writer_uint(message, id);
}

static void send_result(struct caller *caller, uint32_t id, const uint8_t *result, size_t length)
{
	struct writer message;
	begin_response(&message, id, length);
	writer_nil(&message);
	writer_raw(&message, result, length);
	connection_send(connection_of(caller), &message);
	writer_finish(&message);
}

static void send_failure(struct caller *caller, uint32_t id, const uint8_t *error, size_t length)
{
	struct writer message;
	begin_response(&message, id, length);
	writer_raw(&message, error, length);
	writer_nil(&message);
	connection_send(connection_of(caller), &message);
	writer_finish(&message);
}

static void fail_request(struct connection *connection, uint32_t id, enum error_code code, const char *field,
                         const char *text)
{
	struct writer error;
	connection->gateway->server.errors[code]++;
	writer_init(&error, NOTICE_BYTES);
	error_write(&error, code, text, field ? "field" : NULL, field);
	send_failure(&connection->caller, id, error.data, error.length);
	writer_finish(&error);
}

static void begin_notice(struct writer *message, const char *method)
{
	writer_init(message, NOTICE_BYTES);
	writer_uint(message, 0);
	writer_array(message, 3);
	writer_uint(message, RPC_NOTICE);
	writer_str(message, method);
	writer_array(message, 1);
}

void connection_notice_error(struct connection *connection, enum error_code code, const char *text)
{
	struct writer message;
	connection->gateway->server.errors[code]++;
	begin_notice(&message, "error");
	error_write(&message, code, text, NULL, NULL);
	connection_send(connection, &message);
	writer_finish(&message);
}

void connection_notice_stopping(struct connection *connection, uint64_t in_ms)
{
	struct writer message;
	begin_notice(&message, "server.stopping");
	writer_map(&message, 1);
	writer_key_uint(&message, "in_ms", in_ms);
	connection_send(connection, &message);
	writer_finish(&message);
}

/* --- channels ------------------------------------------------------------------------------------------------ */

static void wake_attachment(void *owner)
{
	const struct attachment *attachment = owner;
	connection_wake(attachment->connection);
}

/* An owner removed the channel. Who has nothing else here, or came for this alone, need not stay. */
static void expel_attachment(void *owner)
{
	struct attachment *attachment = owner;
	struct connection *connection = attachment->connection;
	connection_channel_over(attachment, "removed");
	if (connection->attachment_count == 0)
		connection_expel(connection, CLOSE_REMOVED, "an owner removed you");
}

static struct channel *attach(struct caller *caller, struct session *session, struct channel_options *options)
{
	struct connection *connection = connection_of(caller);
	if (connection->attachment_count >= LIMIT_CHANNELS)
		return NULL;
	struct attachment *attachment = calloc(1, sizeof *attachment);
	if (!attachment)
		abort();
	attachment->connection = connection;
	attachment->number = ++connection->last_number;
	options->number = attachment->number;
	options->wake = wake_attachment;
	options->expel = expel_attachment;
	options->owner = attachment;
	attachment->channel = channel_attach(session, options);
	TAILQ_INSERT_TAIL(&connection->attachments, attachment, link);
	connection->attachment_count++;
	return attachment->channel;
}

static void detach_one(struct attachment *attachment)
{
	struct connection *connection = attachment->connection;
	TAILQ_REMOVE(&connection->attachments, attachment, link);
	connection->attachment_count--;
	channel_detach(attachment->channel);
	free(attachment);
}

struct attachment *connection_attachment(const struct connection *connection, uint32_t number)
{
	struct attachment *attachment;
	TAILQ_FOREACH(attachment, &connection->attachments, link)
		if (attachment->number == number)
			return attachment;
	return NULL;
}

static bool detach(struct caller *caller, uint32_t number)
{
	struct attachment *attachment = connection_attachment(connection_of(caller), number);
	if (!attachment)
		return false;
	attachment->channel->has_left = true;
	detach_one(attachment);
	return true;
}

static struct channel *find_channel(const struct caller *caller, uint32_t number)
{
	const struct connection *connection = (const struct connection *)(const void *)((const char *)caller -
	                                                                                offsetof(struct connection,
	                                                                                         caller));
	const struct attachment *attachment = connection_attachment(connection, number);
	return attachment ? attachment->channel : NULL;
}

void connection_detach_all(struct connection *connection)
{
	while (!TAILQ_EMPTY(&connection->attachments))
		detach_one(TAILQ_FIRST(&connection->attachments));
}

void connection_channel_over(struct attachment *attachment, const char *reason)
{
	struct writer message;
	begin_notice(&message, "channel.closed");
	writer_map(&message, 2);
	writer_key_uint(&message, "channel", attachment->number);
	writer_key_str(&message, "reason", reason);
	connection_send(attachment->connection, &message);
	writer_finish(&message);
	detach_one(attachment);
}

const struct door connection_door = {
	.answer = send_result,
	.fail = send_failure,
	.attach = attach,
	.detach = detach,
	.channel = find_channel,
};

/* --- hello --------------------------------------------------------------------------------------------------- */

struct hello_args {
	const char *token, *client;
	uint64_t version;
	struct view client_id;
};

static const struct param hello_params[] = {
	{"token", PARAM_TEXT, offsetof(struct hello_args, token), .required = true, .most = TOKEN_BYTES},
	{"version", PARAM_UINT, offsetof(struct hello_args, version), .required = true, .most = UINT32_MAX},
	{"client", PARAM_TEXT, offsetof(struct hello_args, client), .most = LIMIT_NAME_BYTES},
	{"client_id", PARAM_BYTES, offsetof(struct hello_args, client_id), .required = true, .most = CLIENT_ID_BYTES},
	{0},
};

static bool refuse_hello(struct connection *connection, uint32_t id, enum error_code code, const char *field,
                         const char *text)
{
	fail_request(connection, id, code, field, text);
	connection_close(connection, CLOSE_NOT_ALLOWED, error_code_name(code));
	return false;
}

static void welcome(struct connection *connection, uint32_t id)
{
	struct writer result;
	writer_init(&result, NOTICE_BYTES);
	writer_map(&result, 9);
	writer_key_str(&result, "server", "sandbar/" SANDBAR_VERSION);
	writer_key_uint(&result, "version", WIRE_VERSION);
	writer_key_str(&result, "principal", connection->caller.principal.name);
	token_write_rights(&result, &connection->caller.principal);
	writer_key_uint(&result, "ping_ms", LIMIT_PING_SECONDS * 1000);
	writer_key_uint(&result, "message_bytes", LIMIT_MESSAGE_BYTES);
	writer_key_uint(&result, "stdin_window", LIMIT_STDIN_WINDOW);
	writer_key_uint(&result, "epoch", connection->gateway->server.epoch);
	const char *session = connection->caller.principal.session;
	writer_key_str(&result, "session", session[0] ? session : NULL);
	send_result(&connection->caller, id, result.data, result.length);
	writer_finish(&result);
}

static bool greet(struct connection *connection, uint32_t id, const struct hello_args *args)
{
	struct caller *caller = &connection->caller;
	if (args->version != WIRE_VERSION)
		return refuse_hello(connection, id, CODE_UNSUPPORTED, "version", "this server speaks version 1");
	if (args->client_id.length != CLIENT_ID_BYTES)
		return refuse_hello(connection, id, CODE_INVALID_PARAMS, "client_id", "`client_id` must have 16 bytes");
	if (!tokens_verify(connection->gateway->server.tokens, args->token, strlen(args->token), (uint64_t)time(NULL),
	                   &caller->principal))
		return refuse_hello(connection, id, CODE_UNAUTHENTICATED, "token",
		                    "the token is wrong, has expired or was revoked");
	memcpy(caller->client, args->client_id.data, CLIENT_ID_BYTES);
	enum error_code code;
	const char *text;
	if ((caller->principal.session[0] && !share_lets_in(caller, &code, &text)) ||
	    (gate_allows_right(&caller->principal, RIGHT_REDEEM) && !link_lets_in(caller, &code, &text)))
		return refuse_hello(connection, id, code, "token", text);
	snprintf(caller->client_name, sizeof caller->client_name, "%s", args->client ? args->client : "");
	connection->is_greeted = true;
	ev_timer_stop(connection->gateway->loop, &connection->hello);
	connection_watch_expiry(connection);
	sessions_client_back(&connection->gateway->server.sessions, caller->client);
	welcome(connection, id);
	const struct gateway *gateway = connection->gateway;
	if (gateway->server.is_draining)
		connection_notice_stopping(connection, (uint64_t)((gateway->drain_until - ev_now(gateway->loop)) * 1000));
	return true;
}

static bool say_hello(struct connection *connection, const struct rpc *rpc)
{
	struct hello_args args = {0};
	struct arena arena = {.used = 0};
	struct params_error error;
	bool good = params_decode(rpc->params, hello_params, &args, &arena, &error);
	good = good ? greet(connection, rpc->id, &args)
	            : refuse_hello(connection, rpc->id, error.code, error.field, error.message);
	arena_finish(&arena);
	return good;
}

/* --- requests ------------------------------------------------------------------------------------------------ */

static void request(struct connection *connection, const struct rpc *rpc)
{
	struct caller *caller = &connection->caller;
	size_t open = connection->queue_count;
	const struct call *call;
	LIST_FOREACH(call, &caller->calls, link)
		open++;
	if (view_equals(rpc->method, "hello"))
		fail_request(connection, rpc->id, CODE_CONFLICT, NULL, "hello was said already");
	else if (caller_has_call(caller, rpc->id))
		connection_notice_error(connection, CODE_INVALID_REQUEST, "the id of a request is that of an open one");
	else if (open >= LIMIT_OPEN_REQUESTS)
		fail_request(connection, rpc->id, CODE_LIMIT, NULL, "a connection may have at most 64 open requests");
	else if (connection->queue_bytes >= QUEUE_HIGH)
		fail_request(connection, rpc->id, CODE_LIMIT, NULL, "answers of more than 1 MiB wait to be read");
	else
		call_dispatch(caller, rpc->id, rpc->method, rpc->params);
}

/* One frame of channel 0. False: the rest of the message is not looked at. */
static bool control_frame(struct connection *connection, struct reader *reader)
{
	struct rpc rpc;
	bool has_id;
	const char *what;
	bool good = rpc_read(reader, &rpc, &has_id, &what);
	if (!connection->is_greeted) {
		if (good && rpc.type == RPC_REQUEST && view_equals(rpc.method, "hello"))
			return say_hello(connection, &rpc);
		connection_close(connection, CLOSE_NO_HELLO, "the first request must be hello");
		return false;
	}
	if (!good && has_id)
		fail_request(connection, rpc.id, CODE_INVALID_REQUEST, NULL, what);
	else if (!good)
		connection_notice_error(connection, CODE_INVALID_REQUEST, what);
	else if (rpc.type == RPC_REQUEST)
		request(connection, &rpc);
	else if (rpc.type == RPC_CANCEL)
		call_cancel(&connection->caller, rpc.id);
	else
		connection_notice_error(connection, CODE_INVALID_REQUEST, "a client sends requests [0, …] and cancels [3, id]");
	return good;
}

/* --- a client's frames --------------------------------------------------------------------------------------- */

/* The fields of a client's frame, as its row says. */
struct frame_fields {
	uint64_t numbers[3];
	struct view bytes;
};

struct frame_row {
	enum frame_kind kind;
	uint32_t numbers; /* unsigned integers behind the kind */
	bool has_bytes;   /* bytes behind those */
	bool has_process; /* the first number is a process */
	void (*carry_out)(struct channel *channel, struct process *process, const struct frame_fields *fields);
	const char *form; /* for error texts */
};

static const char *input_text(enum error_code code, const struct process *process)
{
	switch (code) {
	case CODE_STDIN_GAP:
		return "input must go on at the offset in `expected`";
	case CODE_STDIN_WINDOW:
		return "at most 1 MiB may be unacknowledged; send again from `accepted` when acknowledged";
	case CODE_STDIN_CLOSED:
		return "the input has ended, or the process closed it";
	case CODE_NO_STDIN:
		return "the process was started without stdin";
	case CODE_PROCESS_EXITED:
		return "the process has exited";
	case CODE_NOT_DRIVER:
		return process->sharing.driver ? "another participant drives this terminal, who may be asked for it"
		                               : "one at a time types in this terminal, and nobody has taken it yet";
	case CODE_FORBIDDEN:
		return "input needs the role `editor`, which this channel does not have";
	default:
		return "too many clients send input in this session";
	}
}

static void tell_input_result(struct channel *channel, const struct process *process, struct input_result result)
{
	if (result.code == ERROR_CODE_NONE)
		return;
	static const struct {
		enum error_code code;
		const char *key;
	} keys[] = {{CODE_STDIN_GAP, "expected"},
	            {CODE_NOT_DRIVER, "expected"},
	            {CODE_FORBIDDEN, "expected"},
	            {CODE_STDIN_WINDOW, "accepted"}};
	const char *key = NULL;
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
		if (keys[i].code == result.code)
			key = keys[i].key;
	channel_error(channel, process->number, result.code, input_text(result.code, process), key, result.offset);
}

static struct input_sender sender_of(const struct channel *channel)
{
	struct input_sender sender = {.participant = channel->participant};
	memcpy(sender.client, channel->client, CLIENT_ID_BYTES);
	return sender;
}

/* It is not taken: its sender hears where its input goes on. */
static void refuse_input(struct channel *channel, struct process *process, enum error_code code)
{
	const struct input_result refused = {code, input_taken(&process->input, channel->client)};
	tell_input_result(channel, process, refused);
}

static bool may_type(struct channel *channel, struct process *process)
{
	if (!sharing_is_open(&process->sharing) || sharing_lets_type(&process->sharing, channel->participant))
		return true;
	refuse_input(channel, process, CODE_NOT_DRIVER);
	return false;
}

static void carry_out_stdin(struct channel *channel, struct process *process, const struct frame_fields *fields)
{
	const struct input_sender sender = sender_of(channel);
	if (!may_type(channel, process))
		return;
	struct input_result result = input_take(&process->input, &sender, fields->numbers[1],
	                                        (const uint8_t *)fields->bytes.data, fields->bytes.length);
	tell_input_result(channel, process, result);
	if (result.code == ERROR_CODE_NONE)
		channel_types(channel, process->number);
}

static void carry_out_eof(struct channel *channel, struct process *process, const struct frame_fields *fields)
{
	const struct input_sender sender = sender_of(channel);
	if (!may_type(channel, process))
		return;
	tell_input_result(channel, process, input_take_end(&process->input, &sender, fields->numbers[1]));
}

static void carry_out_resize(struct channel *channel, struct process *process, const struct frame_fields *fields)
{
	uint64_t cols = fields->numbers[1], rows = fields->numbers[2];
	if (cols < 1 || cols > LIMIT_TERMINAL_SIDE || rows < 1 || rows > LIMIT_TERMINAL_SIDE)
		channel_error(channel, process->number, CODE_INVALID_FRAME, "columns and rows must be 1...1000", NULL, 0);
	else if (!process->terminal)
		channel_error(channel, process->number, CODE_NOT_TERMINAL, "the process has no terminal", NULL, 0);
	else if (!sharing_is_open(&process->sharing))
		channel_error(channel, process->number, CODE_PROCESS_EXITED, "the terminal is gone", NULL, 0);
	else
		windows_tell(&process->sharing.windows, channel, (struct window){(uint16_t)cols, (uint16_t)rows});
}

static void carry_out_credit(struct channel *channel, struct process *process, const struct frame_fields *fields)
{
	(void)process;
	channel_credit(channel, fields->numbers[0]);
}

static const struct frame_row frame_rows[] = {
	{FRAME_STDIN, 2, true, true, carry_out_stdin, "STDIN must be [48, process, offset, bytes]"},
	{FRAME_EOF, 2, false, true, carry_out_eof, "EOF must be [49, process, offset]"},
	{FRAME_RESIZE, 3, false, true, carry_out_resize, "RESIZE must be [50, process, cols, rows]"},
	{FRAME_CREDIT, 1, false, false, carry_out_credit, "CREDIT must be [51, bytes]"},
};

static const struct frame_row *find_row(uint64_t kind)
{
	for (size_t i = 0; i < sizeof frame_rows / sizeof *frame_rows; i++)
		if (frame_rows[i].kind == kind)
			return &frame_rows[i];
	return NULL;
}

static bool read_fields(struct reader *reader, const struct frame_row *row, uint32_t count, struct frame_fields *fields)
{
	if (count != 1 + row->numbers + row->has_bytes)
		return false;
	for (uint32_t i = 0; i < row->numbers; i++)
		if (!reader_uint(reader, &fields->numbers[i]))
			return false;
	return !row->has_bytes || reader_bin(reader, &fields->bytes);
}

static void carry_out(struct channel *channel, const struct frame_row *row, const struct frame_fields *fields)
{
	uint32_t number = row->has_process ? (uint32_t)fields->numbers[0] : 0;
	struct process *process = row->has_process && fields->numbers[0] <= UINT32_MAX
	                              ? session_find_process(channel->session, number)
	                              : NULL;
	if (process && process->state == PROCESS_STARTING)
		process = NULL;
	if (!gate_allows_frame(channel->role, row->kind)) {
		if (process && (row->has_bytes || row->kind == FRAME_EOF))
			refuse_input(channel, process, CODE_FORBIDDEN);
		else
			channel_error(channel, number, CODE_FORBIDDEN, "this needs a higher role than the channel has", NULL, 0);
		return;
	}
	if (row->has_process && !process) {
		channel_error(channel, number, CODE_NOT_FOUND, "the session has no such process", NULL, 0);
		return;
	}
	row->carry_out(channel, process, fields);
}

/* One frame of a channel. False: the rest of the message is not looked at. */
static bool client_frame(struct channel *channel, struct reader *reader)
{
	struct reader frame = *reader;
	uint32_t count = 0;
	uint64_t kind = 0;
	reader_skip(reader);
	if (!reader_array(&frame, &count) || count == 0 || !reader_uint(&frame, &kind)) {
		channel_error(channel, 0, CODE_INVALID_FRAME, "a frame must be an array that begins with its kind", NULL, 0);
		return false;
	}
	const struct frame_row *row = find_row(kind);
	struct frame_fields fields = {0};
	if (!row) {
		channel_error(channel, 0, CODE_UNKNOWN_KIND, "a client sends the kinds 48 to 51 on a channel", "kind", kind);
		return false;
	}
	if (!read_fields(&frame, row, count, &fields)) {
		channel_error(channel, 0, CODE_INVALID_FRAME, row->form, NULL, 0);
		return false;
	}
	carry_out(channel, row, &fields);
	return true;
}

/* --- messages ------------------------------------------------------------------------------------------------ */

/* Carry out at most FRAMES frames behind the channel number. */
static void frames(struct connection *connection, struct reader reader, size_t frames_left)
{
	uint64_t number;
	bool has_channel = reader_uint(&reader, &number), has_frame = reader_type(&reader) != VALUE_END;
	if (!connection->is_greeted && (!has_channel || !has_frame || number != 0)) {
		connection_close(connection, CLOSE_NO_HELLO, "the first request must be hello");
		return;
	}
	if (!has_channel) {
		connection_notice_error(connection, CODE_INVALID_FRAME, "a message must begin with its channel, an integer");
		return;
	}
	if (!has_frame && frames_left > 0) {
		connection_notice_error(connection, CODE_INVALID_FRAME, "a message must have a frame behind its channel");
		return;
	}
	bool goes_on = true;
	for (; goes_on && frames_left > 0 && reader_type(&reader) != VALUE_END; frames_left--) {
		if (number == 0) {
			goes_on = control_frame(connection, &reader) && connection->close_code == 0;
			continue;
		}
		struct attachment *attachment = number <= UINT32_MAX ? connection_attachment(connection, (uint32_t)number)
		                                                     : NULL;
		if (!attachment) {
			connection_notice_error(connection, CODE_UNKNOWN_CHANNEL, "no such channel is attached on this connection");
			return;
		}
		goes_on = client_frame(attachment->channel, &reader);
	}
}

void connection_message(struct connection *connection, const uint8_t *data, size_t length)
{
	struct check_report report;
	bool good = check_message(data, length, &report);
	if (!good && report.code == CODE_MALFORMED) {
		connection_close(connection, CLOSE_UNPARSABLE, report.what);
		return;
	}
	if (!connection->is_greeted && !good) {
		connection_close(connection, CLOSE_NO_HELLO, "the first request must be hello");
		return;
	}
	if (good || report.values > 1)
		frames(connection, reader_over(data, length), good ? SIZE_MAX : report.values - 1);
	if (good || connection->close_code != 0)
		return;
	if (report.has_request_id)
		fail_request(connection, report.request_id, report.code, NULL, report.what);
	else
		connection_notice_error(connection, report.code, report.what);
}
