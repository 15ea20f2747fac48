/*
 * context.h: what a client notes beside a session or a process, such as which conversation or tool call it belongs to:
 * names and texts, shown to whoever looks, meaning nothing to the server. A list of name, text, name, text, …, ended by
 * NULL.
 */
#ifndef SANDBAR_CONTEXT_H
#define SANDBAR_CONTEXT_H

#include "protocol/writer.h"

enum {
	CONTEXT_ENTRIES = 32,
	CONTEXT_NAME_BYTES = 64,
	CONTEXT_TEXT_BYTES = 256,
	CONTEXT_SESSION_BYTES = 4096, /* names and texts of a session together */
	CONTEXT_PROCESS_BYTES = 512,  /* of a process: it stands in its every map */
};

char **context_copy(const char *const *context);                       /* NULL is empty; the caller destroys it */
void context_destroy(char **context);                                  /* NULL is allowed */
void context_write(struct writer *writer, const char *const *context); /* as a map; NULL is empty */

#endif
