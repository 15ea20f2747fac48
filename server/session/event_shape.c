#include "event_shape.h"

#include "protocol/check.h"
#include "protocol/frame.h"

#include <string.h>

static const uint64_t most_integer = (UINT64_C(1) << 53) - 1;

/* The fields behind kind, seq and t, a letter each. */
static const struct {
	enum frame_kind kind;
	const char *fields;
} shapes[] = {
	{FRAME_STARTED, "um"},        {FRAME_EXITED, "um"},   {FRAME_RESIZED, "uuu"}, {FRAME_INPUT, "uuu"},
	{FRAME_PARTICIPANT, "um"},    {FRAME_DRIVER, "um"},   {FRAME_NOTE, "m"},      {FRAME_CHECKPOINT, "uuuuuub"},
	{FRAME_STREAM_CLOSED, "uuu"}, {FRAME_DENIED, "usuu"}, {FRAME_ENDED, "s"},
};

static const struct {
	char letter;
	enum value_type type;
} types[] = {{'u', VALUE_UINT}, {'m', VALUE_MAP}, {'s', VALUE_STR}, {'b', VALUE_BIN}};

static const char *fields_of(uint64_t kind)
{
	for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
		if ((uint64_t)shapes[i].kind == kind)
			return shapes[i].fields;
	return NULL;
}

static enum value_type type_of(char letter)
{
	size_t i = 0;
	while (types[i].letter != letter)
		i++;
	return types[i].type;
}

static bool is_output(const struct output_header *header, size_t length)
{
	return length == OUTPUT_HEADER_BYTES + (size_t)header->length && header->length > 0 && header->process > 0 &&
	       header->seq <= most_integer && header->t_us <= most_integer && header->offset <= most_integer;
}

bool event_has_shape(const uint8_t *frame, size_t length)
{
	struct output_header header;
	struct check_report report;
	if (output_header_read(frame, length, &header))
		return is_output(&header, length);
	if (!check_message(frame, length, &report) || report.values != 1)
		return false;
	struct reader reader = reader_over(frame, length);
	uint32_t count;
	uint64_t kind, seq, t_us;
	if (!reader_array(&reader, &count) || !reader_uint(&reader, &kind) || !reader_uint(&reader, &seq) ||
	    !reader_uint(&reader, &t_us))
		return false;
	const char *fields = fields_of(kind);
	if (!fields || count != 3 + strlen(fields))
		return false;
	for (; *fields && reader_type(&reader) == type_of(*fields); fields++)
		reader_skip(&reader);
	return !*fields;
}
