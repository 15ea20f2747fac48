#include "escape.h"

#include <stdbool.h>
#include <string.h>

enum { DELETE = 0x7f, C1_FIRST = 0x80, C1_LAST = 0x9f };

/* Lead byte ranges of RFC 3629, and the range of the byte that follows. */
static const struct form {
	uint8_t first, last, second_first, second_last;
	uint8_t length;
} FORMS[] = {
	{0x00, 0x7f, 0x00, 0x00, 1}, {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
	{0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
	{0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
};

static const struct form *form_of(uint8_t first)
{
	for (size_t i = 0; i < sizeof(FORMS) / sizeof(FORMS[0]); i++)
		if (first >= FORMS[i].first && first <= FORMS[i].last)
			return &FORMS[i];
	return NULL;
}

size_t escape_decode(const uint8_t *bytes, size_t length, uint32_t *character)
{
	const struct form *form = length ? form_of(bytes[0]) : NULL;

	if (!form || length < form->length)
		return 0;
	if (form->length == 1) {
		*character = bytes[0];
		return 1;
	}
	if (bytes[1] < form->second_first || bytes[1] > form->second_last)
		return 0;
	uint32_t value = bytes[0] & (0x7fU >> form->length);
	for (size_t i = 1; i < form->length; i++) {
		if ((bytes[i] & 0xc0) != 0x80)
			return 0;
		value = value << 6 | (bytes[i] & 0x3f);
	}
	*character = value;
	return form->length;
}

/* What would move, hide or reorder what a person sees: controls, and Unicode's bidirectional and separator controls. */
static const struct range {
	uint32_t first, last;
} UNSAFE[] = {
	{0x00, 0x1f},     {DELETE, C1_LAST}, {0x061c, 0x061c}, {0x200b, 0x200f},   {0x2028, 0x202e},
	{0x2060, 0x206f}, {0xfeff, 0xfeff},  {0xfff9, 0xfffb}, {0xe0000, 0xe0fff},
};

static bool is_unsafe(uint32_t character)
{
	for (size_t i = 0; i < sizeof(UNSAFE) / sizeof(UNSAFE[0]); i++)
		if (character >= UNSAFE[i].first && character <= UNSAFE[i].last)
			return true;
	return false;
}

static int print_unsafe(FILE *out, uint32_t character)
{
	static const char NAMED[] = "\n\t\r\033", NAMES[] = "ntre";
	const char *named = character && character < C1_FIRST ? strchr(NAMED, (int)character) : NULL;

	if (named)
		return fprintf(out, "\\%c", NAMES[named - NAMED]);
	return character < C1_FIRST ? fprintf(out, "\\x%02x", character) : fprintf(out, "\\u{%x}", character);
}

size_t escape_print(FILE *out, const void *text, size_t length)
{
	const uint8_t *at = text, *end = at + length;
	size_t columns = 0;

	while (at < end) {
		uint32_t character;
		size_t size = escape_decode(at, (size_t)(end - at), &character);
		if (size == 0) {
			columns += (size_t)fprintf(out, "\\x%02x", *at);
			size = 1;
		} else if (is_unsafe(character)) {
			columns += (size_t)print_unsafe(out, character);
		} else {
			fwrite(at, 1, size, out);
			columns++;
		}
		at += size;
	}
	return columns;
}

static void json_character(FILE *out, const uint8_t *at, size_t size, uint32_t character)
{
	static const char NAMED[] = "\"\\\n\t\r\b\f", NAMES[] = "\"\\ntrbf";
	const char *named = character && character < DELETE ? strchr(NAMED, (int)character) : NULL;

	if (named)
		fprintf(out, "\\%c", NAMES[named - NAMED]);
	else if (character < 0x20 || (character >= DELETE && character <= C1_LAST))
		fprintf(out, "\\u%04x", character);
	else
		fwrite(at, 1, size, out);
}

void escape_json(FILE *out, const void *text, size_t length)
{
	const uint8_t *at = text, *end = at + length;

	fputc('"', out);
	while (at < end) {
		uint32_t character = 0xfffd;
		size_t size = escape_decode(at, (size_t)(end - at), &character);
		if (size == 0) {
			fputs("\\ufffd", out);
			size = 1;
		} else {
			json_character(out, at, size, character);
		}
		at += size;
	}
	fputc('"', out);
}

void escape_base64(FILE *out, const void *bytes, size_t length)
{
	static const char DIGITS[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const uint8_t *at = bytes;

	for (size_t i = 0; i < length; i += 3) {
		size_t left = length - i;
		uint32_t group = (uint32_t)at[i] << 16 | (uint32_t)(left > 1 ? at[i + 1] : 0) << 8 |
		                 (left > 2 ? at[i + 2] : 0U);
		fputc(DIGITS[group >> 18], out);
		fputc(DIGITS[group >> 12 & 63], out);
		fputc(left > 1 ? DIGITS[group >> 6 & 63] : '=', out);
		fputc(left > 2 ? DIGITS[group & 63] : '=', out);
	}
}
