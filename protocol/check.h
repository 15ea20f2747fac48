/*
 * check.h: whether bytes from a stranger are a message, decided before anything is allocated or believed.
 *
 * check_message() walks the bytes once. After CHECK_OK a reader (reader.h) may walk them without further checks of
 * form: every length lies inside, every string is UTF-8, every map has distinct string keys.
 */
#ifndef SANDBAR_CHECK_H
#define SANDBAR_CHECK_H

#include "wire.h"

#include <stddef.h>

struct check_report {
	enum error_code
		code;  /* ERROR_CODE_NONE, or CODE_MALFORMED, TOO_DEEP, TOO_MANY, BAD_UTF8, BAD_TYPE, DUPLICATE_KEY, ... */
	size_t at; /* offset of the byte where the fault was seen */
	const char *what;    /* static text: what was wrong and what is allowed */
	size_t values;       /* top-level values that are whole and good, before the fault */
	bool has_request_id; /* the frame at fault begins [0, id, ... on channel 0: its error can be a response */
	uint32_t request_id;
};

/* Check DATA as a series of at least one MessagePack value: depth, number of values, lengths against the bytes that
 * are left, UTF-8, keys, no extension types, integers within +-(2^53-1). Depth counts a top-level array as 1.
 * The first fault in the order of the bytes is reported; what stands after it is not looked at. CODE_MALFORMED: empty,
 * truncated, an array or map of more values than bytes are left, or a byte that MessagePack does not have.
 * Time is linear in LENGTH, but for maps of many keys (at most LIMIT_MAP_KEYS each: n log n). True when all is well. */
bool check_message(const uint8_t *data, size_t length, struct check_report *report);

/* True if the bytes are UTF-8 (RFC 3629: no surrogates, nothing overlong, at most U+10FFFF). */
bool check_utf8(const uint8_t *data, size_t length);

#endif
