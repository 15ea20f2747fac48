#include "host.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <strings.h>

enum { NAME_BYTES = 256 };

/* Split "NAME", "NAME:PORT", "[V6]" or "[V6]:PORT"; the brackets do not belong to the name. False if it is none. */
static bool split(const char *host, char name[NAME_BYTES], const char **port)
{
	bool is_v6 = host[0] == '[';
	host += is_v6;
	size_t length = strcspn(host, is_v6 ? "]" : ":");
	if (length == 0 || length >= NAME_BYTES || (is_v6 && host[length] != ']'))
		return false;
	memcpy(name, host, length);
	name[length] = '\0';
	*port = host + length + is_v6;
	return **port == '\0' || (**port == ':' && strspn(*port + 1, "0123456789") == strlen(*port + 1));
}

static bool is_loopback(const char *name)
{
	struct in_addr v4;
	struct in6_addr v6;
	if (inet_pton(AF_INET, name, &v4) == 1)
		return ntohl(v4.s_addr) >> 24 == 127;
	return inet_pton(AF_INET6, name, &v6) == 1 ? IN6_IS_ADDR_LOOPBACK(&v6) : strcasecmp(name, "localhost") == 0;
}

static bool is_address(const char *name)
{
	struct in6_addr any;
	return inet_pton(AF_INET, name, &any) == 1 || inet_pton(AF_INET6, name, &any) == 1;
}

/* A browser leaves out the port that its scheme has. */
static bool is_port(const struct gateway_config *config, const char *port, const char *listened)
{
	return strcmp(port, listened) == 0 || (*port == '\0' && strcmp(listened, config->tls ? ":443" : ":80") == 0);
}

static bool is_listener(const struct gateway_config *config, const char *name, const char *port)
{
	for (uint32_t i = 0; i < config->listeners; i++) {
		char own[NAME_BYTES];
		const char *own_port;
		if (!split(config->listen[i], own, &own_port))
			continue;
		bool is_any = strcmp(own, "0.0.0.0") == 0 || strcmp(own, "::") == 0;
		if (is_any ? is_address(name) : strcmp(own, name) == 0 && is_port(config, port, own_port))
			return true;
	}
	return false;
}

/* One that was given without a port is allowed with any. */
static bool is_public(const struct gateway_config *config, const char *host, const char *name)
{
	for (uint32_t i = 0; i < config->public_hosts; i++)
		if (strcasecmp(config->public_host[i], host) == 0 || strcasecmp(config->public_host[i], name) == 0)
			return true;
	return false;
}

bool host_is_allowed(const struct gateway_config *config, const char *host)
{
	char name[NAME_BYTES];
	const char *port;
	if (!split(host, name, &port))
		return false;
	return is_loopback(name) || is_public(config, host, name) || is_listener(config, name, port);
}
