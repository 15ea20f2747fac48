/*
 * wire.h: the numbers and names of sandbar.v1 as C, made from table.def.
 */
#ifndef SANDBAR_WIRE_H
#define SANDBAR_WIRE_H

#include <stdbool.h>
#include <stdint.h>

enum frame_kind {
#define FRAME(name, number, direction, summary) FRAME_##name = (number),
#include "table.def"
	FRAME_FIRST_OPTIONAL = 64, /* kinds from here may be ignored by who does not know them */
};

enum frame_direction { DIRECTION_EVENT, DIRECTION_SERVER, DIRECTION_CLIENT, DIRECTION_RESERVED };

enum error_code {
	ERROR_CODE_NONE,
#define ERROR_CODE(name, code, summary) CODE_##name,
#include "table.def"
	ERROR_CODE_COUNT
};

enum reason {
	REASON_NONE,
#define REASON(name, reason, summary) REASON_##name,
#include "table.def"
	REASON_COUNT
};

enum stream {
#define STREAM(name, number, text) STREAM_##name = (number),
#include "table.def"
};

enum role {
	ROLE_NONE,
#define ROLE(name, rank, text) ROLE_##name = (rank),
#include "table.def"
};

enum close_code {
#define CLOSE_CODE(name, number, summary) CLOSE_##name = (number),
#include "table.def"
};

enum wire_limit {
#define LIMIT_VALUE(name, value, summary) LIMIT_##name = (value),
#include "table.def"
};

#define WIRE_SUBPROTOCOL "sandbar.v1"
#define WIRE_PATH "/v1/ws"
#define WIRE_INTEGER_MAX ((UINT64_C(1) << 53) - 1)
enum { WIRE_VERSION = 1, CLIENT_ID_BYTES = 16 };

const char *frame_kind_name(unsigned kind); /* "OUTPUT", or NULL */
bool frame_kind_direction(unsigned kind, enum frame_direction *direction);
const char *error_code_name(enum error_code code);      /* "not_found" */
enum error_code error_code_find(const char *name);      /* ERROR_CODE_NONE if there is none */
const char *reason_name(enum reason reason);            /* "exited" */
const char *stream_name(unsigned stream);               /* "stdout", or NULL */
const char *role_name(enum role role);                  /* "viewer", or NULL */
enum role role_find(const char *name, uint32_t length); /* ROLE_NONE if there is none */

#endif
