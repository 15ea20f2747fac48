#include "lws_server.h"

#include "measure.h"

#include <arpa/inet.h>
#include <ev.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <signal.h>
#include <unistd.h>

/* The server: tells its port through PORT, and serves until it is killed. */
static void serve(const struct lws_protocols *protocols, int port)
{
	struct ev_loop *loop = ev_loop_new(EVFLAG_AUTO);
	void *loops[] = {loop};
	struct lws_context_creation_info info = {
		.iface = "127.0.0.1",
		.protocols = protocols,
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

pid_t lws_server_start(const struct lws_protocols *protocols, int *port)
{
	int ends[2];
	if (pipe(ends) != 0)
		die("pipe");
	pid_t pid = fork();
	if (pid < 0)
		die("fork");
	if (pid == 0)
		serve(protocols, ends[1]);
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
static void upgrade(int connection, const char *protocol)
{
	char request[512], answer[2048] = "";
	size_t length = 0;
	int size = snprintf(request, sizeof request,
	                    "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
	                    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
	                    "Sec-WebSocket-Protocol: %s\r\n\r\n",
	                    protocol);
	if (write(connection, request, (size_t)size) != size)
		die("the upgrade");
	while (length + 1 < sizeof answer && !strstr(answer, "\r\n\r\n") && read(connection, answer + length, 1) == 1)
		length++;
	if (strncmp(answer, "HTTP/1.1 101", 12) != 0) {
		fprintf(stderr, "the server refused the upgrade: %.80s\n", answer);
		exit(1);
	}
}

int lws_server_connect(int port, const char *protocol)
{
	int connection = connect_to(port);
	upgrade(connection, protocol);
	return connection;
}
