#include "wire.h"

#include <string.h>

enum { KIND_COUNT = FRAME_FIRST_OPTIONAL };

struct kind_row {
	const char *name;
	enum frame_direction direction;
};

static const struct kind_row KINDS[KIND_COUNT] = {
#define FRAME(name, number, direction, summary) [number] = {#name, DIRECTION_##direction},
#include "table.def"
};

static const char *const ERROR_CODES[ERROR_CODE_COUNT] = {
#define ERROR_CODE(name, code, summary) [CODE_##name] = (code),
#include "table.def"
};

static const char *const REASONS[REASON_COUNT] = {
#define REASON(name, reason, summary) [REASON_##name] = (reason),
#include "table.def"
};

static const char *const STREAMS[] = {
#define STREAM(name, number, text) [number] = (text),
#include "table.def"
};

static const char *const ROLES[] = {
#define ROLE(name, rank, text) [rank] = (text),
#include "table.def"
};

#define COUNT_OF(table) (sizeof(table) / sizeof(table)[0])

const char *frame_kind_name(unsigned kind)
{
	return kind < KIND_COUNT ? KINDS[kind].name : NULL;
}

bool frame_kind_direction(unsigned kind, enum frame_direction *direction)
{
	if (!frame_kind_name(kind))
		return false;
	*direction = KINDS[kind].direction;
	return true;
}

const char *error_code_name(enum error_code code)
{
	return (unsigned)code < ERROR_CODE_COUNT ? ERROR_CODES[code] : NULL;
}

enum error_code error_code_find(const char *name)
{
	for (unsigned code = ERROR_CODE_NONE + 1; code < ERROR_CODE_COUNT; code++)
		if (strcmp(ERROR_CODES[code], name) == 0)
			return (enum error_code)code;
	return ERROR_CODE_NONE;
}

const char *reason_name(enum reason reason)
{
	return (unsigned)reason < REASON_COUNT ? REASONS[reason] : NULL;
}

const char *stream_name(unsigned stream)
{
	return stream < COUNT_OF(STREAMS) ? STREAMS[stream] : NULL;
}

const char *role_name(enum role role)
{
	return (unsigned)role < COUNT_OF(ROLES) ? ROLES[role] : NULL;
}

enum role role_find(const char *name, uint32_t length)
{
	for (unsigned rank = ROLE_NONE + 1; rank < COUNT_OF(ROLES); rank++)
		if (strlen(ROLES[rank]) == length && memcmp(ROLES[rank], name, length) == 0)
			return (enum role)rank;
	return ROLE_NONE;
}
