/*
 * The echo of one byte over WebSocket, bare: a libwebsockets server on a foreign libev loop, as the gateway has it, that
 * sends back each binary message; and a client of plain system calls in another process, which measures.
 */
#include "measure.h"

#include <arpa/inet.h>
#include <ev.h>
#include <libwebsockets.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <signal.h>
#include <unistd.h>

enum { MESSAGE_BYTES = 4096 };

struct echo {
	size_t length;
	unsigned char bytes[LWS_PRE + MESSAGE_BYTES];
};

static int keep(struct lws *wsi, struct echo *echo, const void *in, size_t length)
{
	if (length > MESSAGE_BYTES)
		return -1;
	memcpy(echo->bytes + LWS_PRE, in, length);
	echo->length = length;
	return lws_callback_on_writable(wsi) < 0 ? -1 : 0;
}

static int send_back(struct lws *wsi, struct echo *echo)
{
	int put = lws_write(wsi, echo->bytes + LWS_PRE, echo->length, LWS_WRITE_BINARY);
	return put < (int)echo->length ? -1 : 0;
}

static int on_event(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in, size_t length)
{
	if (reason == LWS_CALLBACK_RECEIVE)
		return keep(wsi, user, in, length);
	if (reason == LWS_CALLBACK_SERVER_WRITEABLE)
		return send_back(wsi, user);
	return lws_callback_http_dummy(wsi, reason, user, in, length);
}

static const struct lws_protocols PROTOCOLS[] = {
	{.name = "echo",
     .callback = on_event,
     .per_session_data_size = sizeof(struct echo),
     .rx_buffer_size = MESSAGE_BYTES},
	{.name = NULL},
};

/* The server: tells its port through PORT, and serves until it is killed. */
static void serve(int port)
{
	struct ev_loop *loop = ev_loop_new(EVFLAG_AUTO);
	void *loops[] = {loop};
	struct lws_context_creation_info info = {
		.iface = "127.0.0.1",
		.protocols = PROTOCOLS,
		.options = LWS_SERVER_OPTION_LIBEV | LWS_SERVER_OPTION_EXPLICIT_VHOSTS,
		.foreign_loops = loops,
		.gid = -1,
		.uid = -1,
	};
	lws_set_log_level(LLL_ERR, NULL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	struct lws_context *context = lws_create_context(&info);
	struct lws_vhost *vhost = context ? lws_create_vhost(context, &info) : NULL;
	int number = vhost ? lws_get_vhost_listen_port(vhost) : 0;
	if (write(port, &number, sizeof number) != sizeof number || number <= 0)
		_exit(1);
	ev_run(loop, 0);
	_exit(0);
}

static pid_t start_server(int *port)
{
	int ends[2];
	if (pipe(ends) != 0)
		die("pipe");
	pid_t pid = fork();
	if (pid < 0)
		die("fork");
	if (pid == 0)
		serve(ends[1]);
	close(ends[1]);
	if (read(ends[0], port, sizeof *port) != sizeof *port || *port <= 0)
		die("the server did not start");
	close(ends[0]);
	return pid;
}

static int connect_to(int port)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
	int connection = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (connection < 0 || connect(connection, (struct sockaddr *)&address, sizeof address) != 0)
		die("connect");
	setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
	return connection;
}

/* The opening handshake of RFC 6455. Its answer is read byte by byte, so that no frame is read with it. */
static void upgrade(int connection)
{
	static const char request[] = "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
								  "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
								  "Sec-WebSocket-Protocol: echo\r\n\r\n";
	char answer[2048] = "";
	size_t length = 0;
	if (write(connection, request, sizeof request - 1) != sizeof request - 1)
		die("the upgrade");
	while (length + 1 < sizeof answer && !strstr(answer, "\r\n\r\n") && read(connection, answer + length, 1) == 1)
		length++;
	if (strncmp(answer, "HTTP/1.1 101", 12) != 0) {
		fprintf(stderr, "the server refused the upgrade: %.80s\n", answer);
		exit(1);
	}
}

/* One binary message of one byte, masked with zeros, and its echo: 82 01 and the byte. */
static uint64_t round_trip(int connection, unsigned char byte)
{
	const unsigned char message[] = {0x82, 0x81, 0, 0, 0, 0, byte};
	unsigned char echo[3];
	uint64_t begin = now_ns();
	if (write(connection, message, sizeof message) != sizeof message)
		die("write");
	if (recv(connection, echo, sizeof echo, MSG_WAITALL) != sizeof echo)
		die("the echo");
	uint64_t taken = now_ns() - begin;
	if (echo[0] != 0x82 || echo[1] != 1 || echo[2] != byte) {
		fprintf(stderr, "the echo was %02x %02x %02x\n", echo[0], echo[1], echo[2]);
		exit(1);
	}
	return taken;
}

int main(int argc, char **argv)
{
	uint64_t runs = 2000;
	const struct option_row options[] = {{"--runs", &runs, "how many round trips"}, {NULL, NULL, NULL}};
	struct samples samples;
	int port = 0;
	options_read(argc, argv, options);
	samples_init(&samples, runs);
	pid_t server = start_server(&port);
	int connection = connect_to(port);
	upgrade(connection);
	for (uint64_t i = 0; i < runs; i++)
		samples_add(&samples, round_trip(connection, (unsigned char)i));
	samples_print(&samples, "lws_echo");
	samples_finish(&samples);
	close(connection);
	kill(server, SIGTERM);
	return 0;
}
