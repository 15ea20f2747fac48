#include "sharing.h"

#include "decode.h"

#include <string.h>

bool sharing_u32(struct reader *reader, uint32_t *value)
{
	struct reader at = *reader;
	uint64_t number;

	if (!reader_uint(&at, &number) || number > UINT32_MAX)
		return false;
	*value = (uint32_t)number;
	*reader = at;
	return true;
}

#define TEXT(type, field)                                                \
	static bool read_##type##_##field(struct reader *reader, void *into) \
	{                                                                    \
		struct sandbar_##type *value = into;                             \
		struct view text;                                                \
		if (!reader_str(reader, &text))                                  \
			return false;                                                \
		decode_text(value->field, sizeof(value->field), text);           \
		return true;                                                     \
	}

#define NUMBER(type, field)                                                  \
	static bool read_##type##_##field(struct reader *reader, void *into)     \
	{                                                                        \
		return sharing_u32(reader, &((struct sandbar_##type *)into)->field); \
	}

/* ---- PARTICIPANT ---- */

TEXT(participant, change)
TEXT(participant, name)
TEXT(participant, role)
TEXT(participant, client)
TEXT(participant, by)
NUMBER(participant, colour)

static const struct decode_key PARTICIPANT_KEYS[] = {
	{"change", read_participant_change},
	{"name", read_participant_name},
	{"role", read_participant_role},
	{"client", read_participant_client},
	{"colour", read_participant_colour},
	{"by", read_participant_by},
	{NULL, NULL},
};

bool sharing_participant(struct reader *fields, struct sandbar_participant *participant)
{
	if (!sharing_u32(fields, &participant->participant) || !decode_map(fields, PARTICIPANT_KEYS, participant))
		return false;
	participant->joined = strcmp(participant->change, "joined") == 0;
	return true;
}

/* ---- DRIVER ---- */

TEXT(driver, change)
TEXT(driver, input)
TEXT(driver, size)
NUMBER(driver, by)
NUMBER(driver, driver)

static bool read_driver_away(struct reader *reader, void *into)
{
	return reader_bool(reader, &((struct sandbar_driver *)into)->away);
}

static bool read_driver_requests(struct reader *reader, void *into)
{
	struct sandbar_driver *driver = into;
	uint32_t count, participant;

	if (!reader_array(reader, &count))
		return false;
	for (uint32_t i = 0; i < count; i++) {
		if (!sharing_u32(reader, &participant))
			reader_skip(reader);
		else if (driver->request_count < SANDBAR_REQUESTS)
			driver->requests[driver->request_count++] = participant;
	}
	return true;
}

static const struct decode_key DRIVER_KEYS[] = {
	{"change", read_driver_change}, {"by", read_driver_by},
	{"input", read_driver_input},   {"driver", read_driver_driver},
	{"away", read_driver_away},     {"requests", read_driver_requests},
	{"size", read_driver_size},     {NULL, NULL},
};

bool sharing_driver(struct reader *fields, struct sandbar_driver *driver)
{
	return sharing_u32(fields, &driver->process) && decode_map(fields, DRIVER_KEYS, driver);
}

/* ---- NOTE ---- */

TEXT(note, text)
TEXT(note, by)
NUMBER(note, participant)
NUMBER(note, process)

static const struct decode_key NOTE_KEYS[] = {
	{"text", read_note_text},       {"by", read_note_by}, {"participant", read_note_participant},
	{"process", read_note_process}, {NULL, NULL},
};

bool sharing_note(struct reader *fields, struct sandbar_note *note)
{
	return decode_map(fields, NOTE_KEYS, note);
}

/* ---- SCREEN, CHECKPOINT ---- */

static bool read_screen_bytes(struct reader *fields, struct sandbar_screen *screen)
{
	struct view bytes;

	if (!reader_bin(fields, &bytes))
		return false;
	screen->data = bytes.data;
	screen->length = bytes.length;
	return true;
}

bool sharing_screen(struct reader *fields, struct sandbar_screen *screen)
{
	screen->part = screen->parts = 1;
	return sharing_u32(fields, &screen->process) && sharing_u32(fields, &screen->cols) &&
	       sharing_u32(fields, &screen->rows) && read_screen_bytes(fields, screen) &&
	       reader_uint(fields, &screen->offset);
}

bool sharing_checkpoint(struct reader *fields, struct sandbar_screen *screen)
{
	return sharing_u32(fields, &screen->process) && reader_uint(fields, &screen->offset) &&
	       sharing_u32(fields, &screen->cols) && sharing_u32(fields, &screen->rows) &&
	       sharing_u32(fields, &screen->part) && sharing_u32(fields, &screen->parts) &&
	       read_screen_bytes(fields, screen);
}
