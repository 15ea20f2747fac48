#include "log.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { SESSION_CHARACTERS = 16, TAIL_BYTES = 32 /* room that is kept for truncated=true and the line's end */ };

struct log_style {
	const char *open, *close; /* around a line */
	const char *separator;    /* between fields */
	const char *key;          /* format: separator or "", key */
	const char *truncated;    /* the field that says so */
	bool always_quotes;
};

static const struct log_style text_style = {"", "\n", " ", "%s%s=", " truncated=true", false};
static const struct log_style json_style = {"{", "}\n", ",", "%s\"%s\":", ",\"truncated\":true", true};

static struct {
	const char *program;
	const struct log_style *style;
	enum log_severity most;
} config = {"sandbar", &text_style, LOG_INFO};

/* A line that is being written: fields are whole or not there. */
struct line {
	char *bytes;
	size_t length;
	bool truncated;
};

void log_init(const char *program, bool json, enum log_severity most)
{
	config.program = program;
	config.style = json ? &json_style : &text_style;
	config.most = most;
}

const char *log_severity_name(enum log_severity severity)
{
	static const char *const names[LOG_SEVERITIES] = {"error", "warn", "info", "debug"};
	return (unsigned)severity < LOG_SEVERITIES ? names[severity] : NULL;
}

static void put(struct line *line, const char *bytes, size_t length)
{
	if (line->truncated || line->length + length > LOG_LINE_BYTES - TAIL_BYTES) {
		line->truncated = true;
		return;
	}
	memcpy(line->bytes + line->length, bytes, length);
	line->length += length;
}

static void put_text(struct line *line, const char *text)
{
	put(line, text, strlen(text));
}

/* Bytes that are not printable ASCII are escaped, in JSON's own form, so that both styles read the same. UTF-8 is
 * escaped byte by byte: a log line is for terminals and grep, which an invalid sequence must not confuse. */
static void put_escaped(struct line *line, const char *text)
{
	for (const unsigned char *at = (const unsigned char *)text; *at != '\0'; at++) {
		char escape[8];
		if (*at == '"' || *at == '\\')
			snprintf(escape, sizeof escape, "\\%c", *at);
		else if (*at == '\n')
			snprintf(escape, sizeof escape, "\\n");
		else if (*at < 0x20 || *at >= 0x7f)
			snprintf(escape, sizeof escape, "\\u%04x", *at);
		else
			snprintf(escape, sizeof escape, "%c", *at);
		put_text(line, escape);
	}
}

static bool needs_quotes(const char *text)
{
	if (*text == '\0')
		return true;
	for (; *text != '\0'; text++)
		if (*text <= ' ' || *text >= 0x7f || strchr("\"\\=", *text))
			return true;
	return false;
}

static void put_value(struct line *line, const char *text)
{
	bool quotes = config.style->always_quotes || needs_quotes(text);
	put(line, "\"", quotes);
	put_escaped(line, text);
	put(line, "\"", quotes);
}

static void put_key(struct line *line, const char *key)
{
	char buffer[64];
	bool first = line->length == strlen(config.style->open);
	snprintf(buffer, sizeof buffer, config.style->key, first ? "" : config.style->separator, key);
	put_text(line, buffer);
}

static void put_field(struct line *line, const struct log_field *field)
{
	size_t before = line->length;
	put_key(line, field->key);
	if (field->text) {
		put_value(line, field->text);
	} else {
		char number[24];
		snprintf(number, sizeof number, "%" PRId64, field->number);
		put_text(line, number);
	}
	if (line->truncated)
		line->length = before;
}

/* RFC 3339, UTC, milliseconds. */
static void format_time(char text[32], uint64_t time_us)
{
	time_t seconds = (time_t)(time_us / 1000000);
	struct tm tm;
	gmtime_r(&seconds, &tm);
	size_t length = strftime(text, 32, "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(text + length, 32 - length, ".%03uZ", (unsigned)(time_us / 1000 % 1000));
}

size_t log_format_line(char *bytes, uint64_t time_us, enum log_severity severity, const char *session,
                       const char *message, const struct log_field *fields)
{
	struct line line = {.bytes = bytes};
	char time_text[32];
	char id[SESSION_CHARACTERS + 1];
	format_time(time_text, time_us);
	put_text(&line, config.style->open);
	put_field(&line, &(struct log_field){"time", time_text, 0});
	put_field(&line, &(struct log_field){"level", log_severity_name(severity), 0});
	put_field(&line, &(struct log_field){"program", config.program, 0});
	if (session) {
		snprintf(id, sizeof id, "%.*s", SESSION_CHARACTERS, session);
		put_field(&line, &(struct log_field){"session", id, 0});
	}
	put_field(&line, &(struct log_field){"message", message, 0});
	for (; fields && fields->key; fields++)
		put_field(&line, fields);
	const char *tail = line.truncated ? config.style->truncated : "";
	int end = snprintf(bytes + line.length, LOG_LINE_BYTES - line.length, "%s%s", tail, config.style->close);
	return line.length + (size_t)end;
}

void log_write(enum log_severity severity, const char *session, const char *message, const struct log_field *fields)
{
	if (severity > config.most)
		return;
	int saved = errno;
	char line[LOG_LINE_BYTES];
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	uint64_t now_us = (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
	size_t length = log_format_line(line, now_us, severity, session, message, fields);
	ssize_t written = write(STDERR_FILENO, line, length);
	(void)written; /* there is nowhere to complain */
	errno = saved;
}
