#include "flags.h"

#include <stdbool.h>
#include <string.h>

enum { HELP_COLUMN = 30 };

static const struct flag *find(const struct flags_table *table, const char *name, size_t length)
{
	for (size_t i = 0; i < table->count; i++)
		if (strlen(table->flags[i].name) == length && memcmp(table->flags[i].name, name, length) == 0)
			return &table->flags[i];
	return NULL;
}

static int store(const struct flag *flag, const char *text, void *options, struct error *err)
{
	if (flag->parse(flag, text, (char *)options + flag->offset, err) < 0)
		return error_prefix(err, "%s", flag->name);
	return 0;
}

static int parse_one(const struct flags_table *table, char ***at, uint64_t *seen, void *options, struct error *err)
{
	const char *argument = *(*at)++;
	size_t length = strcspn(argument, "=");
	const char *value = argument[length] == '=' ? argument + length + 1 : NULL;
	if (argument[0] != '-')
		return error_set(err, 0, "unexpected argument `%.100s`: %s takes only flags", argument, table->program);
	const struct flag *flag = find(table, argument, length);
	if (!flag)
		return error_set(err, 0, "unknown flag `%.*s`: `%s --help` lists them", (int)(length < 100 ? length : 100),
		                 argument, table->program);
	if (!flag->argument && value)
		return error_set(err, 0, "%s takes no value", flag->name);
	if (flag->argument && !value && !(value = *(*at)++))
		return error_set(err, 0, "%s needs a value: %s %s", flag->name, flag->name, flag->argument);
	*seen |= UINT64_C(1) << (flag - table->flags);
	return store(flag, value ? value : "", options, err);
}

int flags_fill(const struct flags_table *table, uint64_t seen, void *options, struct error *err)
{
	for (size_t i = 0; i < table->count; i++) {
		const struct flag *flag = &table->flags[i];
		if (flag->standard && !(seen & UINT64_C(1) << i) && store(flag, flag->standard, options, err) < 0)
			return -1;
	}
	return 0;
}

int flags_read(const struct flags_table *table, int argc, char **argv, uint64_t *seen, void *options, struct error *err)
{
	char **at = argv + (argc > 0);
	*seen = 0;
	while (*at)
		if (parse_one(table, &at, seen, options, err) < 0)
			return -1;
	return 0;
}

int flags_parse(const struct flags_table *table, int argc, char **argv, void *options, struct error *err)
{
	uint64_t seen;
	if (flags_read(table, argc, argv, &seen, options, err) < 0)
		return -1;
	return flags_fill(table, seen, options, err);
}

/* Help texts are wrapped by hand in the table; each further line is indented as the first. */
static void print_indented(const char *text, FILE *out)
{
	for (; *text != '\0'; text++) {
		fputc(*text, out);
		if (*text == '\n')
			fprintf(out, "%*s", HELP_COLUMN, "");
	}
}

void flags_help(const struct flags_table *table, FILE *out)
{
	fprintf(out, "usage: %s [flag]...\n\n%s\n\n", table->program, table->summary);
	for (size_t i = 0; i < table->count; i++) {
		const struct flag *flag = &table->flags[i];
		int width = fprintf(out, "  %s%s%s", flag->name, flag->argument ? " " : "",
		                    flag->argument ? flag->argument : "");
		fprintf(out, "%*s", width < HELP_COLUMN ? HELP_COLUMN - width : 2, "");
		print_indented(flag->help, out);
		const char *standard = flag->standard_text ? flag->standard_text : flag->standard;
		if (standard)
			fprintf(out, " [%s]", standard);
		fputc('\n', out);
	}
	fprintf(out, "\n%s", table->epilogue);
}

static void print_cell(const char *text, FILE *out)
{
	for (; *text != '\0'; text++) {
		if (*text == '|')
			fputc('\\', out);
		fputc(*text == '\n' ? ' ' : *text, out);
	}
}

void flags_markdown(const struct flags_table *table, FILE *out)
{
	fputs("| flag | default | what it does |\n| --- | --- | --- |\n", out);
	for (size_t i = 0; i < table->count; i++) {
		const struct flag *flag = &table->flags[i];
		const char *standard = flag->standard_text ? flag->standard_text : flag->standard;
		fprintf(out, "| `%s%s", flag->name, flag->argument ? " " : "");
		print_cell(flag->argument ? flag->argument : "", out);
		fputs("` | ", out);
		print_cell(standard ? standard : "", out);
		fputs(" | ", out);
		print_cell(flag->help, out);
		fputs(" |\n", out);
	}
}
