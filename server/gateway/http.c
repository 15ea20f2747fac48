#include "http.h"

#include "gateway.h"
#include "host.h"
#include "page_response.h"
#include "protocol/wire.h"
#include "server/guard/gate.h"
#include "server/guard/tokens.h"
#include "tls.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>

enum { HEADER_BYTES = 1024, TOKEN_TEXT = 512 };

/* What `/` says where the pages were not built. */
static const char page[] =
	"<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>Sandbar</title>\n"
	"<meta name=\"viewport\" content=\"width=device-width\">\n"
	"<link rel=\"stylesheet\" href=\"/style.css\">\n"
	"<h1>Sandbar</h1>\n"
	"<p>This is a Sandbar server. It runs commands in sandboxes and streams what they write, live, over WebSocket "
	"(<code>sandbar.v1</code> at <code>/v1/ws</code>); several people and programs can share one terminal.</p>\n"
	"<p>Paste these into a shell on this machine, in the folder that <code>./dev run</code> was started in:</p>\n"
	"<pre>export PATH=\"$PWD/build/release/bin:$PATH\" SANDBAR_STATE=\"$PWD/build/run/state\"\n"
	"sandbar run -- uname -a          # a command in a fresh sandbox\n"
	"S=$(sandbar new)                 # a session that stays\n"
	"sandbar exec $S -- sh -c 'for i in 1 2 3; do echo $i; sleep 1; done'\n"
	"sandbar exec -t $S -- bash       # a terminal; ^] detaches\n"
	"sandbar attach $S                # the same terminal, from anywhere else\n"
	"sandbar logs $S                  # what was written, from the beginning\n"
	"sandbar ls; sandbar ps $S; sandbar doctor\n"
	"sandbar end $S</pre>\n"
	"<p>Every command explains itself with <code>--help</code>.</p>\n"
	"<p>The pages for browsers are not here: this server was built without them. They need <code>nodejs</code> and "
	"<code>npm</code> (or the network) when it is built; <code>./dev build</code> says what was missing.</p>\n";

static const char style[] =
	":root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;max-width:48rem;margin:3rem auto;"
	"padding:0 1rem}pre{overflow:auto;padding:1rem;border:1px solid;border-radius:.4rem}\n";

static const struct resource {
	const char *path, *type, *body;
	unsigned status;
} resources[] = {
	{"/", "text/html; charset=utf-8", page, HTTP_STATUS_OK},
	{"/style.css", "text/css", style, HTTP_STATUS_OK},
	{NULL, "text/plain", "There is nothing here. The first page is /, the WebSocket is at /v1/ws.\n",
     HTTP_STATUS_NOT_FOUND},
};
static const struct resource healthy = {"/healthz", "text/plain", "ok\n", HTTP_STATUS_OK};
static const struct resource stopping = {"/healthz", "text/plain", "stopping\n", HTTP_STATUS_SERVICE_UNAVAILABLE};
#define STRANGE_HOST "The server does not answer to this Host: see its flag --public-host."
#define TOKEN_IN_ADDRESS \
	"A token does not belong into an address, which others log: links have it behind #, programs say it in `hello`."
static const struct resource strange_host = {NULL, "text/plain", STRANGE_HOST "\n", HTTP_STATUS_FORBIDDEN};
static const struct resource token_in_address = {NULL, "text/plain", TOKEN_IN_ADDRESS "\n", HTTP_STATUS_FORBIDDEN};
static const struct resource no_method = {NULL, "text/plain", "This is for GET and HEAD alone.\n",
                                          HTTP_STATUS_METHOD_NOT_ALLOWED};
static const struct resource no_metrics = {
	NULL, "text/plain",
	"From elsewhere than this machine, /metrics needs an operator's token: Authorization: Bearer.\n",
	HTTP_STATUS_UNAUTHORIZED};

/* One request is all that a connection may have: a second one could come a byte a minute. */
static int respond(struct lws *wsi, const struct resource *resource)
{
	unsigned char buffer[LWS_PRE + HEADER_BYTES], *start = buffer + LWS_PRE, *at = start, *end = buffer + sizeof buffer;
	size_t length = strlen(resource->body);
	bool good = lws_add_http_common_headers(wsi, resource->status, resource->type, length, &at, end) == 0 &&
	            page_header_add(wsi, "content-security-policy:", "default-src 'none'; style-src 'self'", &at, end) &&
	            page_header_add(wsi, "x-content-type-options:", "nosniff", &at, end) &&
	            page_header_add(wsi, "referrer-policy:", "no-referrer", &at, end) &&
	            page_header_add(wsi, "cache-control:", "no-store", &at, end) &&
	            page_header_add(wsi, "connection:", "close", &at, end) &&
	            (resource->status != HTTP_STATUS_METHOD_NOT_ALLOWED ||
	             page_header_add(wsi, "allow:", "GET, HEAD", &at, end)) &&
	            lws_finalize_write_http_header(wsi, start, &at, end) == 0;
	if (!good)
		return -1;
	unsigned char *body = malloc(LWS_PRE + length);
	if (!body)
		abort();
	memcpy(body + LWS_PRE, resource->body, length);
	lws_write(wsi, body + LWS_PRE, length, LWS_WRITE_HTTP_FINAL);
	free(body);
	return -1;
}

static bool has_known_host(const struct gateway_config *config, struct lws *wsi)
{
	char host[TOKEN_TEXT];
	return lws_hdr_copy(wsi, host, sizeof host, WSI_TOKEN_HOST) > 0 && host_is_allowed(config, host);
}

/* In the query, where it would stand in the logs of whoever is on the way. */
static bool has_token_in_address(struct lws *wsi)
{
	char argument[HEADER_BYTES];
	for (int i = 0; lws_hdr_fragment_length(wsi, WSI_TOKEN_HTTP_URI_ARGS, i) > 0; i++)
		if (lws_hdr_copy_fragment(wsi, argument, sizeof argument, WSI_TOKEN_HTTP_URI_ARGS, i) > 0 &&
		    (strncmp(argument, "token=", 6) == 0 || strncmp(argument, "access_token=", 13) == 0))
			return true;
	return false;
}

/* --- /metrics ------------------------------------------------------------------------------------------------- */

/* What a proxy of this machine hands on does not come from this machine. */
static bool is_from_here(struct lws *wsi)
{
	struct sockaddr_storage peer;
	socklen_t length = sizeof peer;
	if (lws_hdr_total_length(wsi, WSI_TOKEN_X_FORWARDED_FOR) > 0 ||
	    lws_hdr_custom_length(wsi, "forwarded:", (int)strlen("forwarded:")) > 0 ||
	    getpeername(lws_get_socket_fd(wsi), (struct sockaddr *)&peer, &length) < 0)
		return false;
	if (peer.ss_family == AF_INET)
		return ntohl(((struct sockaddr_in *)(void *)&peer)->sin_addr.s_addr) >> 24 == 127;
	const struct in6_addr *v6 = &((struct sockaddr_in6 *)(void *)&peer)->sin6_addr;
	return IN6_IS_ADDR_LOOPBACK(v6) || (IN6_IS_ADDR_V4MAPPED(v6) && v6->s6_addr[12] == 127);
}

static bool has_operators_token(struct gateway *gateway, struct lws *wsi)
{
	static const char scheme[] = "Bearer ";
	char text[sizeof scheme + TOKEN_BYTES];
	struct principal principal;
	int length = lws_hdr_copy(wsi, text, sizeof text, WSI_TOKEN_HTTP_AUTHORIZATION);
	if (length <= (int)strlen(scheme) || strncasecmp(text, scheme, strlen(scheme)) != 0)
		return false;
	const char *token = text + strlen(scheme);
	bool good = tokens_verify(gateway->server.tokens, token, strlen(token), (uint64_t)time(NULL), &principal);
	explicit_bzero(text, sizeof text);
	return good && gate_is_operator(&principal);
}

static int serve_metrics(struct gateway *gateway, struct lws *wsi)
{
	if (!is_from_here(wsi) && !has_operators_token(gateway, wsi))
		return respond(wsi, &no_metrics);
	size_t length;
	char *text = metrics_text(gateway, &length);
	const struct resource resource = {"/metrics", METRICS_TYPE, text, HTTP_STATUS_OK};
	int result = respond(wsi, &resource);
	free(text);
	return result;
}

static bool is_reading(struct lws *wsi)
{
	return lws_hdr_total_length(wsi, WSI_TOKEN_GET_URI) > 0 || lws_hdr_total_length(wsi, WSI_TOKEN_HEAD_URI) > 0;
}

/* Whoever looks after machines by their addresses may ask whether this one is well. */
static int serve(struct gateway *gateway, struct lws *wsi, struct page_response *response, const char *path)
{
	const struct resource *resource = resources;
	const struct page *found = pages_find(gateway->pages, path);
	if (strcmp(path, "/healthz") == 0)
		return respond(wsi, gateway->server.is_stopping || gateway->server.is_draining ? &stopping : &healthy);
	if (!has_known_host(&gateway->config, wsi))
		return respond(wsi, &strange_host);
	if (has_token_in_address(wsi))
		return respond(wsi, &token_in_address);
	if (strcmp(path, "/metrics") == 0)
		return serve_metrics(gateway, wsi);
	while (resource->path && strcmp(resource->path, path) != 0)
		resource++;
	if ((found || resource->path) && !is_reading(wsi))
		return respond(wsi, &no_method);
	return found ? page_response_begin(response, wsi, found, &gateway->config) : respond(wsi, resource);
}

/* --- who may open a WebSocket --------------------------------------------------------------------------------- */

/* A browser always sends its Origin; a program need not. The server's own is one whose host is the Host asked for, with
 * either scheme: a proxy in front may add TLS. */
static bool is_own_origin(const char *origin, const char *host)
{
	static const char *const schemes[] = {"http://", "https://"};
	for (size_t i = 0; i < sizeof schemes / sizeof schemes[0]; i++) {
		size_t length = strlen(schemes[i]);
		if (strncmp(origin, schemes[i], length) == 0 && strcmp(origin + length, host) == 0)
			return true;
	}
	return false;
}

static bool origin_is_allowed(const struct gateway_config *config, struct lws *wsi)
{
	char origin[TOKEN_TEXT], host[TOKEN_TEXT];
	if (lws_hdr_total_length(wsi, WSI_TOKEN_ORIGIN) == 0)
		return true;
	if (lws_hdr_copy(wsi, origin, sizeof origin, WSI_TOKEN_ORIGIN) < 0 ||
	    lws_hdr_copy(wsi, host, sizeof host, WSI_TOKEN_HOST) < 0)
		return false;
	for (uint32_t i = 0; i < config->origins; i++)
		if (strcmp(origin, config->origin[i]) == 0)
			return true;
	return is_own_origin(origin, host); /* and the host was found to be ours */
}

static bool path_is(struct lws *wsi, const char *path)
{
	char text[TOKEN_TEXT];
	return lws_hdr_copy(wsi, text, sizeof text, WSI_TOKEN_GET_URI) >= 0 && strcmp(text, path) == 0;
}

static bool offers_subprotocol(struct lws *wsi)
{
	char text[TOKEN_TEXT], *rest = text, *name;
	if (lws_hdr_copy(wsi, text, sizeof text, WSI_TOKEN_PROTOCOL) <= 0)
		return false;
	while ((name = strtok_r(rest, ", \t", &rest)))
		if (strcmp(name, WIRE_SUBPROTOCOL) == 0)
			return true;
	return false;
}

/* NULL: it may be opened. */
static const struct resource *refusal_of(const struct gateway *gateway, struct lws *wsi)
{
#define REFUSAL(status, why)                 \
	{                                        \
		NULL, "text/plain", why "\n", status \
	}
	static const struct resource path = REFUSAL(HTTP_STATUS_NOT_FOUND, "A WebSocket is opened at " WIRE_PATH ".");
	static const struct resource origin = REFUSAL(
		HTTP_STATUS_FORBIDDEN, "Pages of this origin may not connect: see the server's flag --allow-origin.");
	static const struct resource subprotocol = REFUSAL(HTTP_STATUS_FORBIDDEN,
	                                                   "The subprotocol " WIRE_SUBPROTOCOL " must be offered.");
	static const struct resource busy = REFUSAL(HTTP_STATUS_SERVICE_UNAVAILABLE,
	                                            "The server stops, or has as many connections as it may have.");
#undef REFUSAL
	if (!path_is(wsi, WIRE_PATH))
		return &path;
	if (has_token_in_address(wsi))
		return &token_in_address;
	if (!has_known_host(&gateway->config, wsi))
		return &strange_host;
	if (!origin_is_allowed(&gateway->config, wsi))
		return &origin;
	if (!offers_subprotocol(wsi))
		return &subprotocol;
	return gateway->server.is_stopping || gateway->server.connections >= gateway->server.most_connections ? &busy
	                                                                                                      : NULL;
}

int http_filter(struct lws *wsi)
{
	const struct resource *refusal = refusal_of(lws_context_user(lws_get_context(wsi)), wsi);
	return refusal ? respond(wsi, refusal) : 0;
}

int http_callback(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in, size_t length)
{
	(void)length;
	switch ((int)reason) {
	case LWS_CALLBACK_WSI_DESTROY:
		((struct gateway *)lws_context_user(lws_get_context(wsi)))->sockets--;
		return 0;
	case LWS_CALLBACK_HTTP_CONFIRM_UPGRADE: /* before the library would refuse by itself, without a word */
	case LWS_CALLBACK_FILTER_PROTOCOL_CONNECTION:
		return http_filter(wsi);
	case LWS_CALLBACK_OPENSSL_LOAD_EXTRA_SERVER_VERIFY_CERTS: {
		const struct gateway *gateway = lws_context_user(lws_get_context(wsi));
		tls_configure(gateway->tls, user);
		return 0;
	}
	case LWS_CALLBACK_HTTP:
		return serve(lws_context_user(lws_get_context(wsi)), wsi, user, in);
	case LWS_CALLBACK_HTTP_WRITEABLE:
		return page_response_continue(user, wsi);
	default:
		return 0;
	}
}
