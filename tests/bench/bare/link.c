#include "link.h"

#include "measure.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

static int connect_to(const char *address)
{
	const char *port = strrchr(address, ':');
	struct sockaddr_in to = {.sin_family = AF_INET,
	                         .sin_port = htons((uint16_t)(port ? atoi(port + 1) : 0)),
	                         .sin_addr = {htonl(INADDR_LOOPBACK)}};
	int connection = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (connection < 0 || connect(connection, (const struct sockaddr *)&to, sizeof to) != 0)
		die("connect to the server");
	setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
	return connection;
}

static SSL *secure(int connection)
{
	static SSL_CTX *context;
	if (!context)
		context = SSL_CTX_new(TLS_client_method());
	SSL *tls = context ? SSL_new(context) : NULL;
	if (!tls || SSL_set_fd(tls, connection) != 1 || SSL_connect(tls) != 1) {
		fprintf(stderr, "no TLS with the server\n");
		exit(1);
	}
	return tls;
}

void link_open(struct link *link, const char *address)
{
	link->socket = connect_to(address);
	link->tls = strncmp(address, "https:", 6) == 0 ? secure(link->socket) : NULL;
}

void link_close(struct link *link)
{
	SSL_free(link->tls);
	close(link->socket);
}

/* As much as has come: SSL_read() alone returns one record of 16 KiB. */
static ssize_t read_records(SSL *tls, uint8_t *bytes, size_t room)
{
	size_t length = 0, got;
	do {
		if (SSL_read_ex(tls, bytes + length, room - length, &got) != 1)
			break;
		length += got;
	} while (length < room && SSL_pending(tls) > 0);
	return (ssize_t)length;
}

ssize_t link_read(struct link *link, void *bytes, size_t room)
{
	return link->tls ? read_records(link->tls, bytes, room) : recv(link->socket, bytes, room, 0);
}

/* One record, so that both pieces arrive in one. */
static bool write_records(SSL *tls, const void *head, size_t head_length, const void *body, size_t body_length)
{
	uint8_t both[16 * 1024];
	size_t written;
	if (head_length + body_length > sizeof both)
		return SSL_write_ex(tls, head, head_length, &written) == 1 &&
		       SSL_write_ex(tls, body, body_length, &written) == 1;
	memcpy(both, head, head_length);
	if (body_length > 0)
		memcpy(both + head_length, body, body_length);
	return SSL_write_ex(tls, both, head_length + body_length, &written) == 1;
}

void link_write(struct link *link, const void *head, size_t head_length, const void *body, size_t body_length)
{
	const struct iovec parts[] = {{(void *)(uintptr_t)head, head_length}, {(void *)(uintptr_t)body, body_length}};
	bool good = link->tls ? write_records(link->tls, head, head_length, body, body_length)
	                      : writev(link->socket, parts, 2) == (ssize_t)(head_length + body_length);
	if (!good)
		die("send a message");
}

void certificate_make(struct certificate *certificate, const char *folder)
{
	char command[4 * PATH_MAX];
	snprintf(certificate->cert, sizeof certificate->cert, "%s/tls.crt", folder);
	snprintf(certificate->key, sizeof certificate->key, "%s/tls.key", folder);
	snprintf(command, sizeof command,
	         "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=bench "
	         "-addext subjectAltName=IP:127.0.0.1 -keyout %s -out %s 2>%s/openssl.log",
	         certificate->key, certificate->cert, folder);
	if (system(command) != 0) {
		fprintf(stderr, "openssl made no certificate\n");
		_exit(1);
	}
}
