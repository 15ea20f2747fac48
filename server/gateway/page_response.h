/*
 * page_response.h: a page on its way to a browser: its headers, and its body in parts as the connection takes them.
 */
#ifndef SANDBAR_PAGE_RESPONSE_H
#define SANDBAR_PAGE_RESPONSE_H

#include "inherit.h"
#include "pages.h"

#include <libwebsockets.h>

enum { PAGE_PART_BYTES = 32 * 1024, PAGE_PART_SECONDS = 30 /* a part must have gone */ };

/* What a connection of plain HTTP keeps; libwebsockets sets it to zero. */
struct page_response {
	const unsigned char *bytes;
	size_t length, sent;
};

/* Answer a GET or HEAD with PAGE, or with 304 where the browser has it. Who may frame it is in CONFIG. The result is the
 * callback's: not 0 closes. */
int page_response_begin(struct page_response *response, struct lws *wsi, const struct page *page,
                        const struct gateway_config *config);
/* The connection can be written. */
int page_response_continue(struct page_response *response, struct lws *wsi);

/* Add the header NAME ("name:") at *AT, which moves on; false: it does not fit before END. */
bool page_header_add(struct lws *wsi, const char *name, const char *value, unsigned char **at, unsigned char *end);

#endif
