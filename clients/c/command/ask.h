/*
 * ask.h: one request of a command, and its answer printed: as JSON, or by a function for people.
 */
#ifndef SANDBAR_COMMAND_ASK_H
#define SANDBAR_COMMAND_ASK_H

#include "context.h"
#include "protocol/reader.h"
#include "protocol/writer.h"

/* Prints RESULT (before the answer's map); NULL prints nothing. */
typedef void (*ask_print)(const struct context *context, const struct reader *result);

/* Blocking. PARAMS (one map) is finished. The exit code. */
int ask(struct context *context, const char *method, struct writer *params, ask_print print);
/* The same, where the JSON is another than the server's answer. */
int ask_either(struct context *context, const char *method, struct writer *params, ask_print print,
               ask_print print_json);

/* Parameters that begin with the session, of COUNT in all. */
void ask_begin(struct writer *params, uint32_t count, const char *session);

#endif
