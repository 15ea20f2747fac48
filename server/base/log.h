/*
 * log.h: one line on stderr for each thing worth telling, as key=value text or as a JSON object.
 *
 * A line is written by one write(2), so lines of several programs do not mix. Values are escaped: whatever a
 * stranger chose cannot make a second line. Never log a token, an environment or a byte of a stream.
 */
#ifndef SANDBAR_LOG_H
#define SANDBAR_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum log_severity { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG, LOG_SEVERITIES };

enum { LOG_LINE_BYTES = 2048 }; /* a longer line loses its last fields, and says so: truncated=true */

/* One key=value of a line. TEXT is borrowed until the line is written. */
struct log_field {
	const char *key;  /* [a-z0-9_]+; NULL ends a list */
	const char *text; /* or NULL: then it is NUMBER */
	int64_t number;
};

/* PROGRAM (borrowed for ever) names who speaks. Before this call: text, LOG_INFO. */
void log_init(const char *program, bool json, enum log_severity most);

/* "info", or NULL if there is no such severity. */
const char *log_severity_name(enum log_severity severity);

/* SESSION (an id, at most 16 characters are read) and FIELDS may be NULL. */
void log_write(enum log_severity severity, const char *session, const char *message, const struct log_field *fields);

/* Write the line, as log_write would, to LINE (at least LOG_LINE_BYTES) at TIME_US since 1970. Returns its length. */
size_t log_format_line(char *line, uint64_t time_us, enum log_severity severity, const char *session,
                       const char *message, const struct log_field *fields);

static inline struct log_field log_text(const char *key, const char *text)
{
	return (struct log_field){.key = key, .text = text ? text : ""};
}

static inline struct log_field log_number(const char *key, int64_t number)
{
	return (struct log_field){.key = key, .number = number};
}

/* log_write(LOG_WARN, id, "the gateway died", LOG_FIELDS(log_number("pid", pid), log_text("how", how))) */
#define LOG_FIELDS(...) ((const struct log_field[]){__VA_ARGS__, {.key = NULL}})

#endif
