#include "protocol/check.h"

#include <criterion/criterion.h>
#include <string.h>

/* Every code point, encoded by the definition of RFC 3629, is taken; every surrogate is refused. */
static size_t encode(uint32_t point, uint8_t *bytes)
{
	size_t length = point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
	static const uint8_t lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
	for (size_t i = length - 1; i > 0; i--, point >>= 6)
		bytes[i] = (uint8_t)(0x80 | (point & 0x3f));
	bytes[0] = (uint8_t)(lead[length] | point);
	return length;
}

Test(check, utf8_takes_every_code_point_and_no_surrogate)
{
	uint8_t bytes[4];
	for (uint32_t point = 0; point <= 0x110400; point++) {
		size_t length = encode(point, bytes);
		bool expected = point <= 0x10ffff && (point < 0xd800 || point > 0xdfff);
		cr_assert_eq(check_utf8(bytes, length), expected, "U+%04X", point);
		if (length > 1)
			cr_assert_not(check_utf8(bytes, length - 1), "U+%04X cut off", point);
	}
}

/* All sequences of one to three bytes, against a decoder that works backwards: decode loosely, encode, compare. */
static bool is_shortest(const uint8_t *bytes, size_t length)
{
	size_t at = 0;
	while (at < length) {
		uint8_t lead = bytes[at], again[4];
		size_t size = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
		if ((lead & 0xc0) == 0x80 || size > length - at)
			return false;
		uint32_t point = size == 1 ? lead : lead & (0xffU >> (size + 1));
		for (size_t i = 1; i < size; i++) {
			if ((bytes[at + i] & 0xc0) != 0x80)
				return false;
			point = point << 6 | (bytes[at + i] & 0x3f);
		}
		if (point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff))
			return false;
		if (encode(point, again) != size || memcmp(again, bytes + at, size) != 0)
			return false;
		at += size;
	}
	return true;
}

Test(check, utf8_agrees_with_a_second_decoder_on_all_short_sequences)
{
	for (uint32_t n = 0; n < 0x1000000; n += n < 0x800000 ? 257 : 1) {
		const uint8_t bytes[] = {(uint8_t)(n >> 16), (uint8_t)(n >> 8), (uint8_t)n};
		for (size_t length = 1; length <= 3; length++)
			if (check_utf8(bytes, length) != is_shortest(bytes, length))
				cr_assert_fail("%02x %02x %02x, length %zu", bytes[0], bytes[1], bytes[2], length);
	}
}

/* A long text is looked at eight bytes at a time; a wrong byte is seen at every place. */
Test(check, utf8_sees_a_wrong_byte_wherever_it_stands)
{
	uint8_t text[40];
	for (size_t at = 0; at < sizeof text; at++) {
		memset(text, 'x', sizeof text);
		cr_assert(check_utf8(text, sizeof text));
		text[at] = 0x80;
		cr_assert_not(check_utf8(text, sizeof text), "at %zu", at);
	}
	cr_assert(check_utf8(text, 0));
}

/* A client is told where the fault is, how many values before it are good, and which request it may answer. */
Test(check, a_report_says_where)
{
	static const struct {
		const char *bytes;
		size_t length, at, values;
		enum error_code code;
		bool has_id;
	} faults[] = {
		{"", 0, 0, 0, CODE_MALFORMED, false},
		{"\x01\x92\x33\x05\xc1", 5, 4, 2, CODE_MALFORMED, false},
		{"\x01\x92\x33\x05\x92\x33", 6, 4, 2, CODE_MALFORMED, false}, /* two values announced, one byte left */
		{"\x01\x92\x91\x05", 4, 4, 1, CODE_MALFORMED, false},
		{"\x00\x94\x00\x09\xa1\xff\x90", 7, 4, 1, CODE_BAD_UTF8, true},
		{"\x00\x94\x00\xff\xa1\xff\x90", 7, 4, 1, CODE_BAD_UTF8, false},  /* the id is negative */
		{"\x01\x94\x00\x09\xa1\xff\x90", 7, 4, 1, CODE_BAD_UTF8, false},  /* not on channel 0 */
		{"\x00\x94\x02\x09\xa1\xff\x90", 7, 4, 1, CODE_BAD_UTF8, false},  /* not a request */
		{"\x00\x92\x00\x09\x92\x03\xc1", 7, 6, 2, CODE_MALFORMED, false}, /* the request before is not at fault */
		{"\x00\x91\x92\x00\x09\x91\xc1", 7, 6, 2, CODE_MALFORMED, false}, /* [[0, 9]] is no request */
	};
	for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
		struct check_report report;
		cr_assert_not(check_message((const uint8_t *)faults[i].bytes, faults[i].length, &report), "row %zu", i);
		cr_expect_eq(report.code, faults[i].code, "row %zu: %s", i, report.what);
		cr_expect_eq(report.at, faults[i].at, "row %zu: at %zu", i, report.at);
		cr_expect_eq(report.values, faults[i].values, "row %zu: %zu values", i, report.values);
		cr_expect_eq(report.has_request_id, faults[i].has_id, "row %zu", i);
		cr_expect(!faults[i].has_id || report.request_id == 9);
	}
}
