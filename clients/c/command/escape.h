/*
 * escape.h: text that others chose, made safe for a terminal and for JSON.
 */
#ifndef SANDBAR_COMMAND_ESCAPE_H
#define SANDBAR_COMMAND_ESCAPE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Decode one character of UTF-8 (RFC 3629): its length in bytes, or 0 if the bytes are not one. */
size_t escape_decode(const uint8_t *bytes, size_t length, uint32_t *character);

/* Print TEXT so that it cannot steer a terminal: control characters, what reorders text (bidirectional controls) and
 * bytes that are not UTF-8 appear as \n, \t, \e, \xNN or \u{N}; a backslash as itself. Returns the columns that it takes
 * (one for each character). */
size_t escape_print(FILE *out, const void *text, size_t length);

/* As JSON text (RFC 8259) with its quotation marks; TEXT must be UTF-8. DEL and C1 controls are escaped as well. */
void escape_json(FILE *out, const void *text, size_t length);

/* RFC 4648, section 4, without quotation marks. */
void escape_base64(FILE *out, const void *bytes, size_t length);

#endif
