#include "clients/c/command/options.h"

#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <string.h>

enum { ARGUMENTS = 16 };

/* LINE's words become argv; -1 or the exit code. */
static int parse(struct options *options, const char *line)
{
	static char text[512];
	static char *argv[ARGUMENTS + 1];
	int argc = 0;

	strcpy(text, line);
	for (char *word = strtok(text, " "); word && argc < ARGUMENTS; word = strtok(NULL, " "))
		argv[argc++] = word;
	argv[argc] = NULL;
	return options_parse(options, argc, argv);
}

Test(command_line, gives_the_rest_to_the_command)
{
	static const struct {
		const char *line, *program[4];
	} cases[] = {
		{"sandbar run -- ls -l", {"ls", "-l"}},     {"sandbar run ls -t", {"ls", "-t"}},
		{"sandbar run -t --env A=1 -- -x", {"-x"}}, {"sandbar exec s -- a -- b", {"a", "--", "b"}},
		{"sandbar --json exec s a", {"a"}},
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct options options;
		cr_assert_eq(parse(&options, cases[i].line), -1, "%s", cases[i].line);
		for (size_t word = 0; cases[i].program[word]; word++)
			cr_expect_str_eq(options.program[word], cases[i].program[word], "%s", cases[i].line);
		options_finish(&options);
	}
}

Test(command_line, reads_values_with_units)
{
	struct options options;

	cr_assert_eq(
		parse(&options, "sandbar run --wall 1.5s --idle=2m --cpu 500ms --memory 512M --output 0 --file-size 0 x"), -1);
	cr_expect_eq(options.wall_ms, 1500);
	cr_expect_eq(options.idle_ms, 120000);
	cr_expect_eq(options.cpu_ms, 500);
	cr_expect_eq(options.limits.memory, 512 * 1024 * 1024);
	cr_expect_eq(options.output_bytes, 0);
	cr_expect_eq(options.limits.file_size, SANDBAR_NO_LIMIT);
	options_finish(&options);
}

Test(command_line, names_what_is_wrong, .init = cr_redirect_stderr)
{
	static const char *const cases[] = {
		"sandbar",
		"sandbar nonsense",
		"sandbar run",
		"sandbar run --",
		"sandbar exec s",
		"sandbar ls extra",
		"sandbar ls --follow",
		"sandbar run --wall",
		"sandbar run --wall soon x",
		"sandbar run --json=yes x",
		"sandbar logs --stream both s",
		"sandbar run --memory -1 x",
		"sandbar kill s",
		"sandbar -z",
		"sandbar run --env =x y",
		"sandbar run --wall 0x10 x",
		"sandbar run --wall 1e300h x",
		"sandbar logs --process 99999999999999999999 s",
		"sandbar share --uses 0 s",
		"sandbar terminal --size 0x s",
		"sandbar run --version",
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct options options;
		cr_expect_eq(parse(&options, cases[i]), EXIT_USAGE, "%s", cases[i]);
		options_finish(&options);
	}
}

/* Every command explains itself, and the list of all names every command. */
Test(command_line, has_help_for_everything, .init = cr_redirect_stdout)
{
	struct options options;
	char line[64], *text;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	cr_expect_eq(parse(&options, "sandbar --help"), EXIT_OK);
	options_finish(&options);
	options_help(out);
	fflush(out);
	for (const struct command *command = COMMANDS; command->name; command++) {
		snprintf(line, sizeof line, "sandbar %s --help", command->name);
		cr_expect_eq(parse(&options, line), EXIT_OK);
		options_finish(&options);
		cr_expect(strstr(text, command->name), "%s is not in the help", command->name);
		cr_expect(command->least <= command->most);
	}
	fclose(out);
	free(text);
}
