#include "json.h"

#include "escape.h"
#include "protocol/check.h"
#include "protocol/wire.h"

#include <inttypes.h>
#include <string.h>

static void bytes_value(FILE *out, struct view bytes)
{
	if (check_utf8((const uint8_t *)bytes.data, bytes.length)) {
		escape_json(out, bytes.data, bytes.length);
		return;
	}
	fputs("{\"base64\": \"", out);
	escape_base64(out, bytes.data, bytes.length);
	fputs("\"}", out);
}

static void array_value(FILE *out, struct reader *reader)
{
	uint32_t count = 0;

	reader_array(reader, &count);
	fputc('[', out);
	for (uint32_t i = 0; i < count; i++) {
		fputs(i ? ", " : "", out);
		json_value(out, reader);
	}
	fputc(']', out);
}

static void members(FILE *out, struct reader *reader, bool first)
{
	uint32_t count = 0;
	struct view key;

	reader_map(reader, &count);
	for (uint32_t i = 0; i < count && reader_str(reader, &key); i++) {
		fputs(first ? "" : ", ", out);
		first = false;
		escape_json(out, key.data, key.length);
		fputs(": ", out);
		json_value(out, reader);
	}
}

static void number_value(FILE *out, struct reader *reader)
{
	int64_t number = 0;

	reader_int(reader, &number);
	fprintf(out, "%" PRId64, number);
}

void json_value(FILE *out, struct reader *reader)
{
	enum value_type type = reader_type(reader);
	struct view view = {"", 0};
	bool truth = false;
	double real = 0;

	switch (type) {
	case VALUE_NIL:
		reader_nil(reader);
		fputs("null", out);
		break;
	case VALUE_BOOL:
		reader_bool(reader, &truth);
		fputs(truth ? "true" : "false", out);
		break;
	case VALUE_UINT:
	case VALUE_NEGATIVE:
		number_value(out, reader);
		break;
	case VALUE_FLOAT:
		reader_float(reader, &real);
		fprintf(out, "%.17g", real);
		break;
	case VALUE_STR:
		reader_str(reader, &view);
		escape_json(out, view.data, view.length);
		break;
	case VALUE_BIN:
		reader_bin(reader, &view);
		bytes_value(out, view);
		break;
	case VALUE_ARRAY:
		array_value(out, reader);
		break;
	case VALUE_MAP:
		fputc('{', out);
		members(out, reader, true);
		fputc('}', out);
		break;
	case VALUE_END:
		break;
	}
}

void json_member(FILE *out, bool first, const char *key, const char *text)
{
	fputs(first ? "" : ", ", out);
	escape_json(out, key, strlen(key));
	fputs(": ", out);
	escape_json(out, text, strlen(text));
}

/* The fields of each event in their order. `stream` is a number that gets its name, `*` a map whose keys join the
 * object, `data` bytes that become `text` or `base64`. */
static const struct event_row {
	unsigned kind;
	const char *name;
	const char *fields[8];
} EVENTS[] = {
	{FRAME_OUTPUT, "output", {"seq", "t", "process", "stream", "offset", "data"}},
	{FRAME_STARTED, "started", {"seq", "t", "process", "*"}},
	{FRAME_EXITED, "exited", {"seq", "t", "process", "*"}},
	{FRAME_RESIZED, "resized", {"seq", "t", "process", "cols", "rows"}},
	{FRAME_INPUT, "input", {"seq", "t", "participant", "process", "nbytes"}},
	{FRAME_PARTICIPANT, "participant", {"seq", "t", "participant", "*"}},
	{FRAME_DRIVER, "driver", {"seq", "t", "process", "*"}},
	{FRAME_NOTE, "note", {"seq", "t", "*"}},
	{FRAME_USAGE, "usage", {"seq", "t", "*"}},
	{FRAME_STREAM_CLOSED, "stream_closed", {"seq", "t", "process", "stream", "offset"}},
	{FRAME_DENIED, "denied", {"seq", "t", "process", "call", "thread", "count"}},
	{FRAME_ENDED, "ended", {"seq", "t", "reason"}},
	{FRAME_GAP, "gap", {"from", "to"}},
	{FRAME_STATE, "state", {"seq", "*"}},
	{FRAME_SCREEN, "screen", {"process", "cols", "rows", "data", "offset"}},
	{FRAME_LIVE, "live", {"seq"}},
};

static const struct event_row *find_event(unsigned kind)
{
	for (size_t i = 0; i < sizeof(EVENTS) / sizeof(EVENTS[0]); i++)
		if (EVENTS[i].kind == kind)
			return &EVENTS[i];
	return NULL;
}

static void stream_field(FILE *out, struct reader *reader)
{
	uint64_t stream = 0;

	reader_uint(reader, &stream);
	json_member(out, false, "stream", stream_name((unsigned)stream) ? stream_name((unsigned)stream) : "");
}

static void data_field(FILE *out, struct reader *reader)
{
	struct view bytes = {"", 0};

	reader_bin(reader, &bytes);
	if (check_utf8((const uint8_t *)bytes.data, bytes.length)) {
		fputs(", \"text\": ", out);
		escape_json(out, bytes.data, bytes.length);
		return;
	}
	fputs(", \"base64\": \"", out);
	escape_base64(out, bytes.data, bytes.length);
	fputc('"', out);
}

static void field(FILE *out, const char *name, struct reader *reader)
{
	if (strcmp(name, "stream") == 0) {
		stream_field(out, reader);
	} else if (strcmp(name, "data") == 0) {
		data_field(out, reader);
	} else if (strcmp(name, "*") == 0) {
		members(out, reader, false);
	} else {
		fprintf(out, ", \"%s\": ", name);
		json_value(out, reader);
	}
}

bool json_event(FILE *out, unsigned kind, const void *frame, size_t length)
{
	const struct event_row *row = find_event(kind);
	struct reader reader = reader_over(frame, length);
	uint32_t count;
	uint64_t number;

	if (!row || !reader_array(&reader, &count) || !reader_uint(&reader, &number))
		return false;
	fputc('{', out);
	json_member(out, true, "event", row->name);
	for (size_t i = 0; row->fields[i] && i + 1 < count; i++)
		field(out, row->fields[i], &reader);
	fputs("}\n", out);
	return true;
}
