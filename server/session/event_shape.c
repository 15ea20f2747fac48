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
	{FRAME_STREAM_CLOSED, "uuu"}, {FRAME_DENIED, "usuu"}, {FRAME_ENDED, "s"},     {FRAME_USAGE, "m"},
};

#define COUNT_EVENT +1
#define COUNT_SERVER
#define COUNT_CLIENT
#define COUNT_RESERVED
#define FRAME(name, number, direction, summary) COUNT_##direction
enum {
	EVENTS =
#include "protocol/table.def"
};
_Static_assert(sizeof shapes / sizeof *shapes == EVENTS - 1, "every event but OUTPUT has a shape");

static const struct {
	char letter;
	enum value_type type;
} types[] = {{'u', VALUE_UINT}, {'m', VALUE_MAP}, {'s', VALUE_STR}, {'b', VALUE_BIN}};

static const char *fields_of(uint32_t kind)
{
	for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
		if ((uint32_t)shapes[i].kind == kind)
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
	struct event_frame event;
	if (!event_read(frame, length, &event))
		return false;
	const char *fields = fields_of(event.kind);
	if (!fields || event.count != strlen(fields))
		return false;
	for (; *fields && reader_type(&event.fields) == type_of(*fields); fields++)
		reader_skip(&event.fields);
	return !*fields;
}
