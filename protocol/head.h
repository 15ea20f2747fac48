/*
 * head.h: the first bytes of a MessagePack value: its type, and its number, length or count. Inside protocol/ only;
 * check.c and reader.c share it, so that what one passes the other understands in the same way.
 *
 * The forms are those of https://github.com/msgpack/msgpack/blob/master/spec.md.
 */
#ifndef SANDBAR_HEAD_H
#define SANDBAR_HEAD_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum head_type {
	HEAD_INVALID, /* c1, which MessagePack does not have */
	HEAD_NIL,
	HEAD_BOOL,
	HEAD_UINT, /* also a signed form that holds no negative number */
	HEAD_NEGATIVE,
	HEAD_FLOAT,
	HEAD_STR,
	HEAD_BIN,
	HEAD_ARRAY,
	HEAD_MAP,
	HEAD_EXT,
	HEAD_TYPE_COUNT
};

struct head {
	enum head_type type;
	uint8_t bytes;   /* of the head: the type byte and the number after it */
	uint64_t number; /* the value (two's complement, or a float's bits), the length of what follows, or the count */
};

/* How the type bytes c0...df go on: with a big-endian number of NUMBER_BYTES. */
struct head_form {
	uint8_t type, number_bytes;
	bool is_signed;
	uint8_t fixed; /* the number where no bytes hold it */
};

static const struct head_form HEAD_FORMS[32] = {
	{HEAD_NIL, 0, false, 0},   {HEAD_INVALID, 0, false, 0}, {HEAD_BOOL, 0, false, 0},  {HEAD_BOOL, 0, false, 1},
	{HEAD_BIN, 1, false, 0},   {HEAD_BIN, 2, false, 0},     {HEAD_BIN, 4, false, 0},   {HEAD_EXT, 1, false, 0},
	{HEAD_EXT, 2, false, 0},   {HEAD_EXT, 4, false, 0},     {HEAD_FLOAT, 4, false, 0}, {HEAD_FLOAT, 8, false, 0},
	{HEAD_UINT, 1, false, 0},  {HEAD_UINT, 2, false, 0},    {HEAD_UINT, 4, false, 0},  {HEAD_UINT, 8, false, 0},
	{HEAD_UINT, 1, true, 0},   {HEAD_UINT, 2, true, 0},     {HEAD_UINT, 4, true, 0},   {HEAD_UINT, 8, true, 0},
	{HEAD_EXT, 0, false, 1},   {HEAD_EXT, 0, false, 2},     {HEAD_EXT, 0, false, 4},   {HEAD_EXT, 0, false, 8},
	{HEAD_EXT, 0, false, 16},  {HEAD_STR, 1, false, 0},     {HEAD_STR, 2, false, 0},   {HEAD_STR, 4, false, 0},
	{HEAD_ARRAY, 2, false, 0}, {HEAD_ARRAY, 4, false, 0},   {HEAD_MAP, 2, false, 0},   {HEAD_MAP, 4, false, 0},
};

static inline uint64_t head_number(const uint8_t *at, unsigned bytes)
{
	uint64_t number = 0;
	for (unsigned i = 0; i < bytes; i++)
		number = number << 8 | at[i];
	return number;
}

/* Type bytes that hold their number themselves. */
static inline bool head_read_fix(uint8_t first, struct head *head)
{
	if (first < 0x80)
		*head = (struct head){HEAD_UINT, 1, first};
	else if (first < 0x90)
		*head = (struct head){HEAD_MAP, 1, first & 0x0f};
	else if (first < 0xa0)
		*head = (struct head){HEAD_ARRAY, 1, first & 0x0f};
	else if (first < 0xc0)
		*head = (struct head){HEAD_STR, 1, first & 0x1f};
	else if (first >= 0xe0)
		*head = (struct head){HEAD_NEGATIVE, 1, (uint64_t)(int64_t)(int8_t)first};
	else
		return false;
	return true;
}

/* Read the head of the value at AT. False if the bytes end inside it. What it announces is not compared to END. */
static inline bool head_read(const uint8_t *at, const uint8_t *end, struct head *head)
{
	if (at >= end)
		return false;
	if (head_read_fix(*at, head))
		return true;
	const struct head_form *form = &HEAD_FORMS[*at - 0xc0];
	if (end - at - 1 < form->number_bytes)
		return false;
	*head = (struct head){form->type, (uint8_t)(1 + form->number_bytes), form->fixed};
	if (form->number_bytes > 0)
		head->number = head_number(at + 1, form->number_bytes);
	if (form->is_signed) {
		unsigned shift = 64 - 8U * form->number_bytes;
		int64_t number = (int64_t)(head->number << shift) >> shift;
		head->number = (uint64_t)number;
		if (number < 0)
			head->type = HEAD_NEGATIVE;
	}
	return true;
}

#endif
