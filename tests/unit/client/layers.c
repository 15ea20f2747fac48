/* What `doctor` ends with: one line that says whether the host gives what a sandbox cannot be without. */
#include "clients/c/command/layers.h"
#include "protocol/wire.h"
#include "protocol/writer.h"

#include <criterion/criterion.h>
#include <stdlib.h>

/* NAMES: each is on, unless a `-` stands before it. */
static void write_layers(struct writer *writer, const char *const *names)
{
	uint32_t count = 0;

	while (names[count])
		count++;
	writer_init(writer, LIMIT_MESSAGE_BYTES);
	writer_array(writer, count);
	for (; *names; names++) {
		writer_map(writer, 3);
		writer_key_str(writer, "name", *names + (**names == '-'));
		writer_key_bool(writer, "on", **names != '-');
		writer_key_str(writer, "detail", "");
	}
}

Test(layers, the_verdict_names_what_is_essential_and_missing)
{
	static const struct {
		const char *names[4], *verdict;
	} cases[] = {
		{{"user", "pid", "oom"}, "all essential layers are on\n"},
		{{"user", "pid", "-oom"},
	     "all essential layers are on\n"}, /* it bounds what a sandbox uses, and has a fallback */
		{{"-user", "pid", "-seccomp"}, "essential layers that are missing: user seccomp\n"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct writer writer;
		char *text;
		size_t length;
		FILE *out = open_memstream(&text, &length);
		write_layers(&writer, cases[i].names);
		struct reader layers = reader_over(writer.data, writer.length);
		layers_print_verdict(out, &layers);
		fclose(out);
		cr_assert_str_eq(text, cases[i].verdict);
		cr_assert_eq(layers_are_sound(&layers), cases[i].verdict[0] == 'a');
		free(text);
		writer_finish(&writer);
	}
}
