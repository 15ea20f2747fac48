#include "lws_server.h"

#include "measure.h"

#include <ev.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

/* A certificate in FOLDER, which is made. */
static void secure(struct lws_context_creation_info *info, struct certificate *certificate, char *folder)
{
	if (!mkdtemp(folder))
		die("a folder for the certificate");
	certificate_make(certificate, folder);
	info->options |= LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT;
	info->ssl_cert_filepath = certificate->cert;
	info->ssl_private_key_filepath = certificate->key;
}

static void remove_folder(const char *folder)
{
	char command[PATH_MAX];
	snprintf(command, sizeof command, "rm -r %s", folder);
	if (system(command) != 0)
		_exit(1);
}

/* The server: tells its port through PORT, and serves until it is killed. */
static void serve(const struct lws_server_options *options, int port)
{
	struct ev_loop *loop = ev_loop_new(EVFLAG_AUTO);
	void *loops[] = {loop};
	struct certificate certificate;
	char folder[] = "/tmp/bench-lws-XXXXXX";
	struct lws_context_creation_info info = {
		.iface = "127.0.0.1",
		.protocols = options->protocols,
		.options = LWS_SERVER_OPTION_LIBEV | LWS_SERVER_OPTION_EXPLICIT_VHOSTS,
		.foreign_loops = loops,
		.gid = -1,
		.uid = -1,
	};
	lws_set_log_level(LLL_ERR, NULL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (options->tls)
		secure(&info, &certificate, folder);
	struct lws_context *context = lws_create_context(&info);
	struct lws_vhost *vhost = context ? lws_create_vhost(context, &info) : NULL;
	int number = vhost ? lws_get_vhost_listen_port(vhost) : 0;
	if (options->tls)
		remove_folder(folder); /* it was read */
	if (write(port, &number, sizeof number) != sizeof number || number <= 0)
		_exit(1);
	if (options->prepare)
		options->prepare(loop, context);
	ev_run(loop, 0);
	_exit(0);
}

pid_t lws_server_start(const struct lws_server_options *options, char address[LWS_SERVER_ADDRESS])
{
	int ends[2], port = 0;
	if (pipe(ends) != 0)
		die("pipe");
	pid_t pid = fork();
	if (pid < 0)
		die("fork");
	if (pid == 0)
		serve(options, ends[1]);
	close(ends[1]);
	if (read(ends[0], &port, sizeof port) != sizeof port || port <= 0)
		die("the server did not start");
	close(ends[0]);
	snprintf(address, LWS_SERVER_ADDRESS, "%s://127.0.0.1:%d", options->tls ? "https" : "http", port);
	return pid;
}

/* The opening handshake of RFC 6455. Its answer is read byte by byte, so that no frame is read with it. */
void lws_server_connect(struct link *link, const char *address, const char *protocol)
{
	char request[512], answer[2048] = "";
	size_t length = 0;
	link_open(link, address);
	int size = snprintf(request, sizeof request,
	                    "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
	                    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
	                    "Sec-WebSocket-Protocol: %s\r\n\r\n",
	                    protocol);
	link_write(link, request, (size_t)size, NULL, 0);
	while (length + 1 < sizeof answer && !strstr(answer, "\r\n\r\n") && link_read(link, answer + length, 1) == 1)
		length++;
	if (strncmp(answer, "HTTP/1.1 101", 12) != 0) {
		fprintf(stderr, "the server refused the upgrade: %.80s\n", answer);
		exit(1);
	}
}
