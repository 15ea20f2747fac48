#include "page_response.h"

#include <stdio.h>
#include <string.h>

enum { HEADER_BYTES = 8 * 1024, POLICY_BYTES = 512 + GATEWAY_ORIGINS * (GATEWAY_TEXT_BYTES + 1), VALUE_BYTES = 512 };

struct header {
	const char *name, *value;
};

/* Everything comes from here, and nothing is in the text of the page itself: neither scripts nor styles. */
static const char policy[] =
	"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; "
	"connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; "
	"frame-ancestors ";

static void write_policy(char text[POLICY_BYTES], const struct gateway_config *config)
{
	size_t length = (size_t)snprintf(text, POLICY_BYTES, "%s%s", policy, config->origins ? "'self'" : "'none'");
	for (uint32_t i = 0; i < config->origins; i++)
		length += (size_t)snprintf(text + length, POLICY_BYTES - length, " %s", config->origin[i]);
}

static bool header_holds(struct lws *wsi, enum lws_token_indexes token, const char *text)
{
	char value[VALUE_BYTES];
	return lws_hdr_copy(wsi, value, sizeof value, token) > 0 && strstr(value, text) != NULL;
}

bool page_header_add(struct lws *wsi, const char *name, const char *value, unsigned char **at, unsigned char *end)
{
	return lws_add_http_header_by_name(wsi, (const unsigned char *)name, (const unsigned char *)value,
	                                   (int)strlen(value), at, end) == 0;
}

/* One request is all that a connection may have, so it is closed behind it. */
static int send_headers(struct lws *wsi, unsigned status, const struct page *page, size_t length, bool is_packed,
                        const struct gateway_config *config)
{
	char frames[POLICY_BYTES];
	write_policy(frames, config);
	const struct header headers[] = {
		{"content-security-policy:", frames},
		{"x-content-type-options:", "nosniff"},
		{"referrer-policy:", "no-referrer"},
		{"cross-origin-opener-policy:", "same-origin"},
		/* The embed is a script for pages of others; they see nothing of its text. */
		{"cross-origin-resource-policy:", strcmp(page->path, "/embed.js") == 0 ? "cross-origin" : "same-origin"},
		{"permissions-policy:", "camera=(), microphone=(), geolocation=()"},
		{"cache-control:", page->is_hashed ? "public, max-age=31536000, immutable" : "no-cache"},
		{"etag:", page->etag},
		{"vary:", "accept-encoding"},
		{"connection:", "close"},
		{"content-encoding:", is_packed ? "gzip" : NULL},
	};
	unsigned char buffer[LWS_PRE + HEADER_BYTES], *start = buffer + LWS_PRE, *at = start, *end = buffer + sizeof buffer;
	bool good = lws_add_http_common_headers(wsi, status, page->type, length, &at, end) == 0;
	for (size_t i = 0; good && i < sizeof headers / sizeof headers[0]; i++)
		good = !headers[i].value || page_header_add(wsi, headers[i].name, headers[i].value, &at, end);
	return good && lws_finalize_write_http_header(wsi, start, &at, end) == 0 ? 0 : -1;
}

int page_response_begin(struct page_response *response, struct lws *wsi, const struct page *page,
                        const struct gateway_config *config)
{
	bool is_head = lws_hdr_total_length(wsi, WSI_TOKEN_HEAD_URI) > 0;
	bool is_packed = page->packed.bytes && header_holds(wsi, WSI_TOKEN_HTTP_ACCEPT_ENCODING, "gzip");
	const struct page_body *body = is_packed ? &page->packed : &page->body;
	if (header_holds(wsi, WSI_TOKEN_HTTP_IF_NONE_MATCH, page->etag)) {
		send_headers(wsi, HTTP_STATUS_NOT_MODIFIED, page, 0, false, config);
		return -1;
	}
	if (send_headers(wsi, HTTP_STATUS_OK, page, body->length, is_packed, config) < 0 || is_head)
		return -1;
	*response = (struct page_response){.bytes = body->bytes, .length = body->length};
	lws_callback_on_writable(wsi);
	return 0;
}

/* After the last part it is waited for once more: then nothing stands in the library's buffers. */
int page_response_continue(struct page_response *response, struct lws *wsi)
{
	unsigned char part[LWS_PRE + PAGE_PART_BYTES];
	size_t length = response->length - response->sent;
	if (!response->bytes || length == 0)
		return -1;
	if (length > PAGE_PART_BYTES)
		length = PAGE_PART_BYTES;
	memcpy(part + LWS_PRE, response->bytes + response->sent, length);
	response->sent += length;
	lws_set_timeout(wsi, PENDING_TIMEOUT_HTTP_CONTENT, PAGE_PART_SECONDS);
	if (lws_write(wsi, part + LWS_PRE, length, LWS_WRITE_HTTP) < 0)
		return -1;
	lws_callback_on_writable(wsi);
	return 0;
}
