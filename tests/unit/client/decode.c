#include "clients/c/decode.h"

#include "protocol/writer.h"

#include <criterion/criterion.h>
#include <string.h>

/* Keys of a later version stand between the known ones, and one has a type that nobody expects. */
Test(decode, reads_an_ending_and_skips_what_it_does_not_know)
{
	struct writer writer;
	struct sandbar_ending ending;

	writer_init(&writer, 4096);
	writer_map(&writer, 7);
	writer_key_uint(&writer, "exit_code", 137);
	writer_key_str(&writer, "signal", "SIGKILL");
	writer_key_str(&writer, "reason", "oom");
	writer_str(&writer, "later");
	writer_map(&writer, 1);
	writer_key_nil(&writer, "x");
	writer_key_uint(&writer, "control", 7);
	writer_str(&writer, "offsets");
	writer_map(&writer, 2);
	writer_key_uint(&writer, "stdout", 10);
	writer_key_uint(&writer, "stderr", 20);
	writer_str(&writer, "streams_open");
	writer_array(&writer, 2);
	writer_str(&writer, "stderr");
	writer_str(&writer, "nonsense");
	struct reader reader = reader_over(writer.data, writer.length);
	cr_assert(decode_ending(&reader, &ending));
	cr_expect_eq(ending.exit_code, 137);
	cr_expect_str_eq(ending.signal, "SIGKILL");
	cr_expect_str_eq(ending.reason, "oom");
	cr_expect_str_eq(ending.control, "");
	cr_expect_eq(ending.offsets[SANDBAR_STDOUT], 10);
	cr_expect(ending.has_offset[SANDBAR_STDERR] && !ending.has_offset[SANDBAR_TTY]);
	cr_expect(ending.open[SANDBAR_STDERR] && !ending.open[SANDBAR_STDOUT]);
	cr_expect_eq(reader_type(&reader), VALUE_END);
	writer_finish(&writer);
}

/* A lost process has no code: it is never a made-up 0. */
Test(decode, keeps_an_unknown_exit_code_unknown)
{
	struct writer writer;
	struct sandbar_ending ending;

	writer_init(&writer, 4096);
	writer_map(&writer, 2);
	writer_key_nil(&writer, "exit_code");
	writer_key_str(&writer, "reason", "lost");
	struct reader reader = reader_over(writer.data, writer.length);
	cr_assert(decode_ending(&reader, &ending));
	cr_expect_eq(ending.exit_code, -1);
	writer_finish(&writer);
}

Test(decode, cuts_text_between_characters)
{
	char text[6];

	decode_text(text, sizeof text, (struct view){"abcd\xe4\xb8\xad", 7});
	cr_expect_str_eq(text, "abcd");
	decode_text(text, sizeof text, (struct view){"ab", 2});
	cr_expect_str_eq(text, "ab");
}
