#include "protocol/writer.h"

#include <criterion/criterion.h>
#include <msgpack.h>
#include <stdlib.h>
#include <string.h>

/* Write the same to both, and compare: msgpack-c into its own buffer is the oracle. */
static void expect_same(const struct writer *writer, msgpack_sbuffer *expected)
{
	cr_assert_not(writer->failed);
	cr_assert_eq(writer->length, expected->size);
	cr_assert_arr_eq(writer->data, expected->data, expected->size);
}

Test(writer, writes_what_msgpack_c_writes)
{
	static const uint64_t numbers[] = {
		0, 1, 127, 128, 255, 256, 65535, 65536, 4294967295, 4294967296, (1ULL << 53) - 1};
	struct writer writer;
	msgpack_sbuffer expected;
	msgpack_packer packer;
	writer_init(&writer, 1 << 20);
	msgpack_sbuffer_init(&expected);
	msgpack_packer_init(&packer, &expected, msgpack_sbuffer_write);
	for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
		writer_uint(&writer, numbers[i]);
		msgpack_pack_uint64(&packer, numbers[i]);
		writer_int(&writer, -(int64_t)numbers[i]);
		msgpack_pack_int64(&packer, -(int64_t)numbers[i]);
		writer_array(&writer, (uint32_t)numbers[i]);
		msgpack_pack_array(&packer, (uint32_t)numbers[i]);
		writer_map(&writer, (uint32_t)numbers[i]);
		msgpack_pack_map(&packer, (uint32_t)numbers[i]);
	}
	writer_nil(&writer);
	msgpack_pack_nil(&packer);
	writer_bool(&writer, true);
	msgpack_pack_true(&packer);
	writer_bool(&writer, false);
	msgpack_pack_false(&packer);
	for (size_t length = 0; length < 70000; length = length * 3 + 1) {
		char *text = calloc(1, length + 1);
		memset(text, 'x', length);
		writer_str(&writer, text);
		writer_strn(&writer, text, length);
		msgpack_pack_str_with_body(&packer, text, length);
		msgpack_pack_str_with_body(&packer, text, length);
		writer_bin(&writer, text, length);
		msgpack_pack_bin_with_body(&packer, text, length);
		free(text);
	}
	expect_same(&writer, &expected);
	msgpack_sbuffer_destroy(&expected);
	writer_finish(&writer);
}

Test(writer, an_entry_is_a_key_and_a_value)
{
	static const uint8_t expected[] = "\x85\xa1s\xa2hi\xa1n\x2a\xa1"
									  "b\xc3\xa1z\xc0\xa1y\xc0";
	struct writer writer;
	writer_init(&writer, 64);
	writer_map(&writer, 5);
	writer_key_str(&writer, "s", "hi");
	writer_key_uint(&writer, "n", 42);
	writer_key_bool(&writer, "b", true);
	writer_key_nil(&writer, "z");
	writer_key_str(&writer, "y", NULL);
	cr_assert_eq(writer.length, sizeof expected - 1);
	cr_assert_arr_eq(writer.data, expected, sizeof expected - 1);
	writer_finish(&writer);
}

/* An answer that grows past its bound is given up once, at the end; nothing after it slips in. */
Test(writer, fails_at_its_bound_and_stays_failed)
{
	for (size_t bound = 0; bound < 40; bound++) {
		struct writer writer;
		writer_init(&writer, bound);
		writer_bin(&writer, "0123456789012345678901234567", 28); /* 30 bytes */
		cr_expect_eq(writer.failed, bound < 30);
		cr_expect_leq(writer.length, bound);
		cr_expect_leq(writer.capacity, bound);
		size_t length = writer.length;
		if (writer.failed)
			writer_nil(&writer);
		cr_expect_eq(writer.length, length);
		writer_reset(&writer);
		cr_expect_not(writer.failed);
		cr_expect_eq(writer.length, 0);
		writer_finish(&writer);
	}
}

Test(writer, refuses_lengths_that_have_no_form)
{
	struct writer writer;
	writer_init(&writer, SIZE_MAX / 2);
	writer_bin(&writer, "x", (size_t)UINT32_MAX + 1);
	cr_expect(writer.failed);
	cr_expect_eq(writer.length, 0);
	writer_finish(&writer);
}

Test(writer, stolen_bytes_are_the_callers)
{
	struct writer writer;
	size_t length;
	writer_init(&writer, 100);
	writer_str(&writer, "kept");
	uint8_t *bytes = writer_steal(&writer, &length);
	writer_str(&writer, "else");
	cr_expect_eq(length, 5);
	cr_expect_arr_eq(bytes, "\xa4kept", 5);
	cr_expect_eq(writer.bound, 100);
	free(bytes);
	writer_finish(&writer);
}

/* Text that was cut in the middle of a character, or that a stranger made of any bytes, does not spoil the message. */
Test(writer, what_is_no_text_is_not_written_as_text)
{
	static const struct {
		const char *text, *written;
	} table[] = {
		{"plain", "plain"},
		{"\xff", "?"},
		{"\xc3\xa9t\xc3", "\xc3\xa9t?"},                   /* cut behind a lead byte */
		{"\xe2\x94", "??"},                                /* and behind two of three */
		{"a\x80\xf0\x9f\x98\x80z", "a?\xf0\x9f\x98\x80z"}, /* a stray byte before an emoji */
		{"\xc0\x80\xed\xa0\x80", "?????"},                 /* overlong, and half a pair */
	};
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		struct writer writer;
		writer_init(&writer, 64);
		writer_str(&writer, table[i].text);
		size_t length = strlen(table[i].written);
		cr_assert_eq(writer.length, 1 + length);
		cr_expect(memcmp(writer.data + 1, table[i].written, length) == 0, "row %zu: %.*s", i, (int)length,
		          writer.data + 1);
		writer_finish(&writer);
	}
}
