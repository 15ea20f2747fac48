#include "cast.h"

#include "escape.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { US_PER_S = 1000000, CHARACTER_BYTES = 4 };

static const char REPLACEMENT[] = "\xef\xbf\xbd";

static void put_text(FILE *out, const char *text)
{
	escape_json(out, text, strlen(text));
}

void cast_begin(struct cast *cast, FILE *out, const struct cast_header *header, uint64_t t_us)
{
	*cast = (struct cast){.out = out, .t_us = t_us};
	fprintf(out,
	        "{\"version\": 3, \"term\": {\"cols\": %" PRIu32 ", \"rows\": %" PRIu32 ", \"type\": \"xterm-256color\"}",
	        header->cols, header->rows);
	if (header->began_us)
		fprintf(out, ", \"timestamp\": %" PRIu64, (header->began_us + t_us) / US_PER_S);
	if (header->command) {
		fputs(", \"command\": ", out);
		put_text(out, header->command);
	}
	if (header->title && header->title[0]) {
		fputs(", \"title\": ", out);
		put_text(out, header->title);
	}
	fputs(", \"sandbar\": {\"session\": ", out);
	put_text(out, header->session);
	fprintf(out, ", \"process\": %" PRIu32 "}}\n", header->process);
}

/* Times of the wire never go back; a clock that did would make no valid interval. */
static void begin_event(struct cast *cast, uint64_t t_us, const char *code)
{
	uint64_t interval = t_us > cast->t_us ? t_us - cast->t_us : 0;

	cast->t_us += interval;
	fprintf(cast->out, "[%" PRIu64 ".%06" PRIu64 ", \"%s\", ", interval / US_PER_S, interval % US_PER_S, code);
}

static void event(struct cast *cast, uint64_t t_us, const char *code, const char *data)
{
	begin_event(cast, t_us, code);
	put_text(cast->out, data);
	fputs("]\n", cast->out);
}

/* ---- Output ---- */

static size_t size_of(uint8_t lead)
{
	return lead < 0x80 ? 1 : lead < 0xc2 || lead > 0xf4 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
}

/* Whether the bytes at the end are only the beginning of a character. */
static bool is_beginning(const uint8_t *bytes, size_t length)
{
	if (length >= size_of(bytes[0]))
		return false;
	for (size_t i = 1; i < length; i++)
		if ((bytes[i] & 0xc0) != 0x80)
			return false;
	return true;
}

/* Append what of BYTES is whole; the rest is held. */
static void decode(struct cast *cast, FILE *text, const uint8_t *bytes, size_t length)
{
	uint32_t character;

	for (size_t size; length > 0; bytes += size, length -= size) {
		size = escape_decode(bytes, length, &character);
		if (size == 0 && is_beginning(bytes, length)) {
			memcpy(cast->held, bytes, length);
			cast->held_length = length;
			return;
		}
		fwrite(size ? (const char *)bytes : REPLACEMENT, 1, size ? size : sizeof(REPLACEMENT) - 1, text);
		size = size ? size : 1;
	}
}

void cast_output(struct cast *cast, uint64_t t_us, const void *bytes, size_t length)
{
	char *text;
	size_t text_length;
	FILE *decoded = open_memstream(&text, &text_length);
	uint8_t *whole = malloc(cast->held_length + length + 1);

	if (!decoded || !whole)
		abort();
	memcpy(whole, cast->held, cast->held_length);
	memcpy(whole + cast->held_length, bytes, length);
	length += cast->held_length;
	cast->held_length = 0;
	decode(cast, decoded, whole, length);
	fclose(decoded);
	if (text_length > 0) {
		begin_event(cast, t_us, "o");
		escape_json(cast->out, text, text_length);
		fputs("]\n", cast->out);
	}
	free(whole);
	free(text);
}

/* What was held will not become whole any more. */
static void flush(struct cast *cast, uint64_t t_us)
{
	if (cast->held_length > 0)
		event(cast, t_us, "o", REPLACEMENT);
	cast->held_length = 0;
}

/* ---- The rest ---- */

void cast_resize(struct cast *cast, uint64_t t_us, uint32_t cols, uint32_t rows)
{
	char size[32];

	snprintf(size, sizeof(size), "%" PRIu32 "x%" PRIu32, cols, rows);
	event(cast, t_us, "r", size);
}

void cast_marker(struct cast *cast, uint64_t t_us, const char *label)
{
	event(cast, t_us, "m", label);
}

void cast_input(struct cast *cast, uint64_t t_us, const char *by, uint32_t participant, uint64_t bytes)
{
	char *data;
	size_t length;
	FILE *out = open_memstream(&data, &length);

	if (!out)
		abort();
	fputs("{\"by\": ", out);
	put_text(out, by);
	fprintf(out, ", \"participant\": %" PRIu32 ", \"bytes\": %" PRIu64 "}", participant, bytes);
	fclose(out);
	event(cast, t_us, "sandbar.input", data);
	free(data);
}

void cast_exit(struct cast *cast, uint64_t t_us, const struct sandbar_ending *ending)
{
	char text[128];

	flush(cast, t_us);
	if (ending->exit_code >= 0)
		snprintf(text, sizeof(text), "%s %d", ending->reason, ending->exit_code);
	else
		snprintf(text, sizeof(text), "%s", ending->reason);
	cast_marker(cast, t_us, text);
	if (ending->exit_code < 0)
		return;
	snprintf(text, sizeof(text), "%d", ending->exit_code);
	event(cast, t_us, "x", text);
}
