#include "url.h"

#include "failure.h"
#include "protocol/wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PORT_PLAIN = 80, PORT_TLS = 443, PORT_MAX = 65535 };

static const struct scheme {
	const char *prefix;
	bool tls;
} SCHEMES[] = {{"ws://", false}, {"wss://", true}, {"http://", false}, {"https://", true}, {"", false}};

static const char *skip_scheme(const char *text, bool *tls)
{
	const struct scheme *scheme = SCHEMES;

	while (strncmp(text, scheme->prefix, strlen(scheme->prefix)) != 0)
		scheme++;
	*tls = scheme->tls;
	return text + strlen(scheme->prefix);
}

/* The host of AUTHORITY, and what stands after it. */
static const char *split_host(const char *authority, struct url *url)
{
	bool bracketed = authority[0] == '[';
	const char *start = authority + (bracketed ? 1 : 0);
	size_t length = strcspn(start, bracketed ? "]" : ":");

	if (length == 0 || length >= sizeof(url->host) || (bracketed && start[length] != ']'))
		return NULL;
	memcpy(url->host, start, length);
	url->host[length] = '\0';
	return start + length + (bracketed ? 1 : 0);
}

static bool read_port(const char *text, struct url *url)
{
	char *end;

	if (*text == '\0') {
		url->port = url->tls ? PORT_TLS : PORT_PLAIN;
		return true;
	}
	if (text[0] != ':' || text[1] < '0' || text[1] > '9')
		return false;
	unsigned long port = strtoul(text + 1, &end, 10);
	if (*end != '\0' || port == 0 || port > PORT_MAX)
		return false;
	url->port = (uint16_t)port;
	return true;
}

int url_parse(struct url *url, const char *text, struct sandbar_error *error)
{
	*url = (struct url){0};
	const char *rest = skip_scheme(text, &url->tls);
	size_t length = strcspn(rest, "/?#");
	const char *path = rest + length;

	if (length == 0 || length >= sizeof(url->authority) || strlen(path) >= sizeof(url->path) || strpbrk(rest, " \r\n"))
		return failure_set(error, "usage", "`%s` is not an address: write ws://HOST:PORT or wss://HOST:PORT", text);
	memcpy(url->authority, rest, length);
	snprintf(url->path, sizeof(url->path), "%s", strcmp(path, "") == 0 || strcmp(path, "/") == 0 ? WIRE_PATH : path);
	const char *port = split_host(url->authority, url);
	if (!port || !read_port(port, url))
		return failure_set(error, "usage", "`%s` is not an address: write ws://HOST:PORT or wss://HOST:PORT", text);
	return 0;
}
