#include "random.h"

#include <stdio.h>
#include <string.h>

/* xorshift64* (Vigna, "An experimental exploration of Marsaglia's xorshift generators", 2016). */
uint64_t random_next(struct random *random)
{
	random->state ^= random->state >> 12;
	random->state ^= random->state << 25;
	random->state ^= random->state >> 27;
	return random->state * UINT64_C(2685821657736338717);
}

uint32_t random_below(struct random *random, uint32_t bound)
{
	return (uint32_t)((random_next(random) >> 33) % bound);
}

static void put_form(struct writer *writer, unsigned type, uint64_t number, unsigned bytes)
{
	uint8_t form[9] = {(uint8_t)type};
	for (unsigned i = 0; i < bytes; i++)
		form[1 + i] = (uint8_t)(number >> 8 * (bytes - 1 - i));
	writer_raw(writer, form, 1 + bytes);
}

/* Write NUMBER after the first of the type bytes FIRST, FIRST+1, ... (of 1, 2, 4, 8 bytes) that holds it, or a later one. */
static void put_number(struct random *random, struct writer *writer, unsigned first, unsigned forms, uint64_t number)
{
	unsigned form = 0;
	while (form + 1 < forms && number >> (8U << form) != 0)
		form++;
	form += random_below(random, forms - form);
	put_form(writer, first + form, number, 1U << form);
}

static void put_count(struct random *random, struct writer *writer, unsigned fix, unsigned first, uint32_t count)
{
	unsigned form = random_below(random, 3);
	if (form == 0 && count < 16)
		put_form(writer, fix + count, 0, 0);
	else
		put_form(writer, first + (form == 2), count, form == 2 ? 4 : 2);
}

static void put_uint(struct random *random, struct writer *writer, unsigned depth)
{
	(void)depth;
	uint64_t number = random_next(random) >> (11 + random_below(random, 53));
	if (number < 0x80 && random_below(random, 2))
		put_form(writer, (unsigned)number, 0, 0);
	else
		put_number(random, writer, 0xcc, 4, number);
}

static void put_int(struct random *random, struct writer *writer, unsigned depth)
{
	(void)depth;
	unsigned form = random_below(random, 4);
	unsigned bits = 8U << form;
	uint64_t number = random_next(random) >> (bits == 64 ? 11 : 0);
	if (bits == 64 && random_below(random, 2))
		number = (uint64_t) - (int64_t)number;
	put_form(writer, 0xd0 + form, number, bits / 8);
}

static void put_fix_negative(struct random *random, struct writer *writer, unsigned depth)
{
	(void)depth;
	put_form(writer, 0xe0 + random_below(random, 32), 0, 0);
}

static void put_float(struct random *random, struct writer *writer, unsigned depth)
{
	(void)depth;
	if (random_below(random, 2))
		put_form(writer, 0xca, random_next(random), 4);
	else
		put_form(writer, 0xcb, random_next(random), 8);
}

static void put_constant(struct random *random, struct writer *writer, unsigned depth)
{
	(void)depth;
	static const uint8_t constants[] = {0xc0, 0xc2, 0xc3};
	put_form(writer, constants[random_below(random, 3)], 0, 0);
}

static void put_str(struct random *random, struct writer *writer, unsigned depth)
{
	(void)depth;
	static const char *const pieces[] = {"a", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "plain text ", ""};
	char text[400] = "";
	for (unsigned i = random_below(random, 30); i > 0; i--)
		strcat(text, pieces[random_below(random, 6)]);
	size_t length = strlen(text);
	if (length < 32 && random_below(random, 2))
		put_form(writer, 0xa0 + (unsigned)length, 0, 0);
	else
		put_number(random, writer, 0xd9, 3, length);
	writer_raw(writer, text, length);
}

static void put_bin(struct random *random, struct writer *writer, unsigned depth)
{
	(void)depth;
	uint8_t bytes[300];
	uint32_t length = random_below(random, sizeof bytes);
	for (uint32_t i = 0; i < length; i++)
		bytes[i] = (uint8_t)random_next(random);
	put_number(random, writer, 0xc4, 3, length);
	writer_raw(writer, bytes, length);
}

static void put_array(struct random *random, struct writer *writer, unsigned depth)
{
	uint32_t count = random_below(random, depth > 4 ? 18 : 5);
	put_count(random, writer, 0x90, 0xdc, count);
	for (uint32_t i = 0; i < count; i++)
		random_value(random, writer, depth - 1);
}

static void put_map(struct random *random, struct writer *writer, unsigned depth)
{
	uint32_t count = random_below(random, depth > 4 ? 18 : 5);
	uint32_t step = 1 + random_below(random, 7);
	put_count(random, writer, 0x80, 0xde, count);
	for (uint32_t i = 0; i < count; i++) {
		char key[16];
		snprintf(key, sizeof key, "%u", i * step);
		writer_str(writer, key);
		random_value(random, writer, depth - 1);
	}
}

typedef void put_function(struct random *random, struct writer *writer, unsigned depth);

void random_value(struct random *random, struct writer *writer, unsigned depth)
{
	static put_function *const functions[] = {put_uint, put_int, put_fix_negative, put_float, put_constant,
	                                          put_str,  put_bin, put_array,        put_map};
	unsigned count = sizeof functions / sizeof functions[0];
	functions[random_below(random, depth > 0 ? count : count - 2)](random, writer, depth);
}
