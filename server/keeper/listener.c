#include "listener.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

union address {
	struct sockaddr_storage storage;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

/* Split "HOST:PORT" or "[HOST]:PORT". */
static bool split(const char *text, char host[64], const char **port)
{
	const char *colon = strrchr(text, ':');
	if (!colon)
		return false;
	size_t length = (size_t)(colon - text);
	bool brackets = length >= 2 && text[0] == '[' && text[length - 1] == ']';
	text += brackets;
	length -= brackets ? 2u : 0u;
	if (length == 0 || length >= 64 || (!brackets && memchr(text, ':', length)))
		return false;
	memcpy(host, text, length);
	host[length] = '\0';
	*port = colon + 1;
	return true;
}

static bool parse_port(const char *text, in_port_t *port)
{
	size_t digits = strspn(text, "0123456789");
	if (digits == 0 || digits > 5 || text[digits] != '\0')
		return false;
	long number = strtol(text, NULL, 10);
	*port = htons((in_port_t)number);
	return number <= 65535;
}

bool listen_address_is_loopback(const struct listen_address *address)
{
	union address copy = {.storage = address->address};
	if (copy.storage.ss_family == AF_INET)
		return ntohl(copy.v4.sin_addr.s_addr) >> 24 == 127;
	return IN6_IS_ADDR_LOOPBACK(&copy.v6.sin6_addr);
}

bool listen_address_is_wildcard(const struct listen_address *address)
{
	union address copy = {.storage = address->address};
	if (copy.storage.ss_family == AF_INET)
		return copy.v4.sin_addr.s_addr == htonl(INADDR_ANY);
	return IN6_IS_ADDR_UNSPECIFIED(&copy.v6.sin6_addr);
}

static bool parse_numbers(const char *text, union address *address, socklen_t *length)
{
	char host[64];
	const char *port_text;
	in_port_t port;
	if (!split(text, host, &port_text) || !parse_port(port_text, &port))
		return false;
	if (inet_pton(AF_INET, host, &address->v4.sin_addr) == 1) {
		address->v4.sin_family = AF_INET;
		address->v4.sin_port = port;
		*length = sizeof address->v4;
		return true;
	}
	address->v6.sin6_family = AF_INET6;
	address->v6.sin6_port = port;
	*length = sizeof address->v6;
	return inet_pton(AF_INET6, host, &address->v6.sin6_addr) == 1;
}

int listen_address_parse(struct listen_address *address, const char *text, struct error *err)
{
	union address parsed = {0};
	if (!parse_numbers(text, &parsed, &address->length))
		return error_set(err, 0, "`%.80s` is not ADDR:PORT, such as 127.0.0.1:7433, [::1]:7433 or 127.0.0.1:0", text);
	address->address = parsed.storage;
	return 0;
}

int listener_open(struct listen_address *address, struct error *err)
{
	char text[128];
	listen_address_format(address, text, sizeof text);
	struct sockaddr *name = (struct sockaddr *)&address->address;
	int on = 1;
	int fd = socket(name->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return error_set(err, errno, "socket for `%s`", text);
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
	if (bind(fd, name, address->length) < 0 || listen(fd, SOMAXCONN) < 0 ||
	    getsockname(fd, name, &address->length) < 0) {
		error_set(err, errno, "listen on `%s`", text);
		close(fd);
		return -1;
	}
	return fd;
}

void listen_address_format(const struct listen_address *address, char *text, size_t size)
{
	union address copy = {.storage = address->address};
	char host[INET6_ADDRSTRLEN] = "";
	bool v4 = copy.storage.ss_family == AF_INET;
	inet_ntop(copy.storage.ss_family, v4 ? (const void *)&copy.v4.sin_addr : (const void *)&copy.v6.sin6_addr, host,
	          sizeof host);
	snprintf(text, size, v4 ? "%s:%u" : "[%s]:%u", host, ntohs(v4 ? copy.v4.sin_port : copy.v6.sin6_port));
}
