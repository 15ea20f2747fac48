/*
 * pages.h: the files that browsers ask for (clients/web, built), whole in memory. The gateway reads them once, before it
 * confines itself; a path is looked up among what was read, so none leads out of there.
 */
#ifndef SANDBAR_PAGES_H
#define SANDBAR_PAGES_H

#include "sandbox/error.h"

#include <stdbool.h>
#include <stddef.h>

enum {
	PAGES_MOST = 256,
	PAGE_BYTES_MOST = 4 * 1024 * 1024,
	PAGES_BYTES_MOST = 16 * 1024 * 1024,
	PAGES_DEPTH = 4, /* of folders */
	PAGE_PATH_BYTES = 256,
	PAGE_ETAG_BYTES = 36,
};

struct page_body {
	unsigned char *bytes;
	size_t length;
};

struct page {
	char path[PAGE_PATH_BYTES];    /* "/session.html" */
	const char *type;              /* of its content */
	char etag[PAGE_ETAG_BYTES];    /* quoted, as the header has it */
	struct page_body body, packed; /* `packed` by gzip: NAME.gz beside it; without bytes where there is none */
	bool is_hashed;                /* its name changes with its content: below /assets/ */
};

struct pages;

/* Read what stands in DIRECTORY. Where that is none, there are no pages, which is no error. */
struct pages *pages_load(int directory, struct error *err);
void pages_destroy(struct pages *pages); /* NULL is allowed */

/* The page at PATH: "/" is "/index.html", and ".html" may be left away. NULL: there is none. */
const struct page *pages_find(const struct pages *pages, const char *path);

#endif
