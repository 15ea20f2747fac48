#include "clients/c/command/cast.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

/* What WRITE makes of a recording that begins at five seconds, without its header. */
static const char *recorded(void (*write)(struct cast *cast))
{
	static char text[4096];
	char *bytes;
	size_t length;
	FILE *out = open_memstream(&bytes, &length);
	struct cast cast;

	cr_assert_not_null(out);
	cast_begin(&cast, out, &(struct cast_header){.session = "k3v7", .process = 2, .cols = 80, .rows = 24}, 5000000);
	write(&cast);
	fclose(out);
	snprintf(text, sizeof text, "%s", strchr(bytes, '\n') + 1);
	free(bytes);
	return text;
}

Test(cast, has_a_header)
{
	char *bytes;
	size_t length;
	FILE *out = open_memstream(&bytes, &length);
	struct cast cast;
	struct cast_header header = {"k3v7", "a \"name\"", "bash -l", 2, 80, 24, 1700000000000000};

	cr_assert_not_null(out);
	cast_begin(&cast, out, &header, 5000000);
	fclose(out);
	cr_expect_str_eq(bytes, "{\"version\": 3, \"term\": {\"cols\": 80, \"rows\": 24, \"type\": \"xterm-256color\"}, "
	                        "\"timestamp\": 1700000005, \"command\": \"bash -l\", \"title\": \"a \\\"name\\\"\", "
	                        "\"sandbar\": {\"session\": \"k3v7\", \"process\": 2}}\n");
	free(bytes);
}

static void write_events(struct cast *cast)
{
	cast_output(cast, 5000001, "a\033[m\n", 5);
	cast_resize(cast, 6500001, 100, 30);
	cast_marker(cast, 6500001, "anna: here");
	cast_input(cast, 7000000, "an\"na", 3, 12);
	cast_exit(cast, 7000000, &(struct sandbar_ending){.exit_code = 137, .reason = "killed"});
}

/* Times are what went by since the event before. */
Test(cast, has_events)
{
	cr_expect_str_eq(recorded(write_events), "[0.000001, \"o\", \"a\\u001b[m\\n\"]\n"
	                                         "[1.500000, \"r\", \"100x30\"]\n"
	                                         "[0.000000, \"m\", \"anna: here\"]\n"
	                                         "[0.499999, \"sandbar.input\", \"{\\\"by\\\": \\\"an\\\\\\\"na\\\", "
	                                         "\\\"participant\\\": 3, \\\"bytes\\\": 12}\"]\n"
	                                         "[0.000000, \"m\", \"killed 137\"]\n"
	                                         "[0.000000, \"x\", \"137\"]\n");
}

static void write_cut_characters(struct cast *cast)
{
	cast_output(cast, 5000000, "a\xe2\x94", 3);
	cast_output(cast, 5000000, "\x80", 1);
	cast_output(cast, 5000000,
	            "\xff"
	            "b\xf0\x9f",
	            4);
	cast_output(cast, 5000000, "c\xc3", 2);
	cast_exit(cast, 5000000, &(struct sandbar_ending){.exit_code = -1, .reason = "lost"});
}

/* Characters are whole, and what is none is replaced; an end without an exit code has none. */
Test(cast, is_utf8_however_output_is_cut)
{
	cr_expect_str_eq(recorded(write_cut_characters), "[0.000000, \"o\", \"a\"]\n"
	                                                 "[0.000000, \"o\", \"\xe2\x94\x80\"]\n"
	                                                 "[0.000000, \"o\", \"\xef\xbf\xbd"
	                                                 "b\"]\n"
	                                                 "[0.000000, \"o\", \"\xef\xbf\xbd\xef\xbf\xbd"
	                                                 "c\"]\n"
	                                                 "[0.000000, \"o\", \"\xef\xbf\xbd\"]\n"
	                                                 "[0.000000, \"m\", \"lost\"]\n");
}

static void write_time_that_stands(struct cast *cast)
{
	cast_marker(cast, 4000000, "earlier");
	cast_marker(cast, 5000002, "later");
}

Test(cast, never_goes_back)
{
	cr_expect_str_eq(recorded(write_time_that_stands),
	                 "[0.000000, \"m\", \"earlier\"]\n[0.000002, \"m\", \"later\"]\n");
}
