#include "bytes.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *terminal_allocate(size_t count, size_t size)
{
	void *memory = calloc(count, size);
	if (!memory)
		abort();
	return memory;
}

void *terminal_reallocate(void *memory, size_t count, size_t size)
{
	memory = reallocarray(memory, count, size);
	if (!memory)
		abort();
	return memory;
}

void bytes_finish(struct bytes *bytes)
{
	free(bytes->at);
	*bytes = (struct bytes){0};
}

static void reserve(struct bytes *bytes, size_t more)
{
	if (bytes->capacity - bytes->length >= more)
		return;
	size_t capacity = bytes->capacity ? bytes->capacity : 64;
	while (capacity - bytes->length < more)
		capacity *= 2;
	bytes->at = terminal_reallocate(bytes->at, capacity, 1);
	bytes->capacity = capacity;
}

void bytes_put(struct bytes *bytes, const void *more, size_t length)
{
	if (length == 0)
		return;
	reserve(bytes, length);
	memcpy(bytes->at + bytes->length, more, length);
	bytes->length += length;
}

uint8_t *bytes_room(struct bytes *bytes, size_t length)
{
	reserve(bytes, length);
	return bytes->at + bytes->length;
}

void bytes_number(struct bytes *bytes, uint32_t number)
{
	char digits[10];
	size_t at = sizeof digits;
	do
		digits[--at] = (char)('0' + number % 10);
	while (number /= 10);
	bytes_put(bytes, digits + at, sizeof digits - at);
}

void bytes_text(struct bytes *bytes, const char *text)
{
	bytes_put(bytes, text, strlen(text));
}

void bytes_format(struct bytes *bytes, const char *format, ...)
{
	char text[128];
	va_list arguments;
	va_start(arguments, format);
	int length = vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	if (length < 0 || (size_t)length >= sizeof text)
		abort();
	bytes_put(bytes, text, (size_t)length);
}

uint8_t *bytes_steal(struct bytes *bytes, size_t *length)
{
	uint8_t *at = bytes->at ? bytes->at : terminal_allocate(1, 1);
	*length = bytes->length;
	*bytes = (struct bytes){0};
	return at;
}

size_t utf8_encode(uint32_t character, char *target)
{
	if (character < 0x80) {
		target[0] = (char)character;
		return 1;
	}
	if (character < 0x800) {
		target[0] = (char)(0xc0 | character >> 6);
		target[1] = (char)(0x80 | (character & 0x3f));
		return 2;
	}
	if (character < 0x10000) {
		target[0] = (char)(0xe0 | character >> 12);
		target[1] = (char)(0x80 | (character >> 6 & 0x3f));
		target[2] = (char)(0x80 | (character & 0x3f));
		return 3;
	}
	target[0] = (char)(0xf0 | character >> 18);
	target[1] = (char)(0x80 | (character >> 12 & 0x3f));
	target[2] = (char)(0x80 | (character >> 6 & 0x3f));
	target[3] = (char)(0x80 | (character & 0x3f));
	return 4;
}

static size_t length_of(uint8_t lead)
{
	return lead < 0xc0 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
}

uint32_t utf8_decode(const char *text, size_t *length)
{
	static const uint8_t masks[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
	const uint8_t *at = (const uint8_t *)text;
	*length = length_of(at[0]);
	uint32_t character = at[0] & masks[*length];
	for (size_t i = 1; i < *length; i++)
		character = character << 6 | (at[i] & 0x3f);
	return character;
}

size_t utf8_cut(const char *text, size_t length, size_t most)
{
	if (length <= most)
		return length;
	while (most > 0 && ((uint8_t)text[most] & 0xc0) == 0x80)
		most--;
	return most;
}
