#include "config_parse.h"

#include "options.h"
#include "template_section.h"

#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

struct parsing {
	struct config_text *config;
	FILE *out;
	unsigned line;
	uint32_t given[FLAGS_MOST]; /* the line on which a row was given first; 0 = not yet */
	struct options scratch;     /* where values are tried */
	struct template_section section;
	bool is_in_template;
	unsigned section_line;
};

static int fail(const struct parsing *at, const char *format, ...) __attribute__((format(printf, 2, 3)));

static int fail(const struct parsing *at, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	fprintf(at->out, "sandbard: %s:%u: ", at->config->path, at->line);
	vfprintf(at->out, format, arguments);
	fputc('\n', at->out);
	va_end(arguments);
	return -1;
}

/* Without blanks before and behind. */
static char *trim(char *text)
{
	text += strspn(text, " \t");
	size_t length = strlen(text);
	while (length > 0 && strchr(" \t\r", text[length - 1]))
		length--;
	text[length] = '\0';
	return text;
}

/* --- entries -------------------------------------------------------------------------------------------------- */

/* A file names flags without their dashes. */
static const char *name_of(const struct flag *flag)
{
	return flag->name + strspn(flag->name, "-");
}

static int unknown(const struct parsing *at, const struct flags_table *table, const char *name)
{
	fprintf(at->out, "sandbard: %s:%u: there is no `%.100s` %s; there are:", at->config->path, at->line, name,
	        table == &template_table ? "in a template" : "here");
	for (size_t i = 0; i < table->count; i++)
		if (!table->flags[i].only_argument)
			fprintf(at->out, " %s", name_of(&table->flags[i]));
	fputc('\n', at->out);
	return -1;
}

static const struct flag *find(const struct flags_table *table, const char *name)
{
	for (size_t i = 0; i < table->count; i++)
		if (!table->flags[i].only_argument && strcmp(name_of(&table->flags[i]), name) == 0)
			return &table->flags[i];
	return NULL;
}

/* A row of which there can be only one. */
static int note_given(struct parsing *at, const struct flags_table *table, const struct flag *flag)
{
	uint32_t *given = &at->given[flag - table->flags];
	if (*given > 0 && !flag->repeats)
		return fail(at, "`%s` was given on line %u already", name_of(flag), *given);
	*given = at->line;
	return 0;
}

static int keep_entry(struct parsing *at, const struct flag *flag, const char *value)
{
	struct config_file *file = at->config->file;
	if (file->count == CONFIG_ENTRIES)
		return fail(at, "a file has at most %d entries", CONFIG_ENTRIES);
	struct config_entry *entry = &file->entries[file->count++];
	entry->flag = (uint32_t)(flag - options_table.flags);
	entry->line = at->line;
	snprintf(entry->text, sizeof entry->text, "%s", value);
	return 0;
}

/* *VALUE of a switch is yes or no, and "" then; true if it is to be stored. */
static int read_switch(const struct parsing *at, const struct flag *flag, char **value, bool *is_on)
{
	*is_on = true;
	if (flag->argument)
		return 0;
	*is_on = strcmp(*value, "yes") == 0;
	if (!*is_on && strcmp(*value, "no") != 0)
		return fail(at, "%s: `%.100s` is neither yes nor no", name_of(flag), *value);
	*value += strlen(*value);
	return 0;
}

static int read_entry(struct parsing *at, const char *name, char *value)
{
	const struct flags_table *table = at->is_in_template ? &template_table : &options_table;
	void *into = at->is_in_template ? (void *)&at->section : (void *)&at->scratch;
	const struct flag *flag = find(table, name);
	struct error err;
	bool is_on;
	if (!flag)
		return unknown(at, table, name);
	if (strlen(value) >= CONFIG_VALUE_BYTES)
		return fail(at, "%s: a value has at most %d bytes", name, CONFIG_VALUE_BYTES - 1);
	if (note_given(at, table, flag) < 0 || read_switch(at, flag, &value, &is_on) < 0)
		return -1;
	if (is_on && flag->parse(flag, value, (char *)into + flag->offset, &err) < 0)
		return fail(at, "%s: %s", name, err.message);
	return is_on && !at->is_in_template ? keep_entry(at, flag, value) : 0;
}

/* --- sections ------------------------------------------------------------------------------------------------- */

static bool is_template_name(const char *name)
{
	size_t length = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-");
	return length > 0 && length <= TEMPLATE_NAME_BYTES && name[length] == '\0';
}

/* What the section said becomes the template. */
static int end_section(struct parsing *at)
{
	struct error err;
	if (!at->is_in_template)
		return 0;
	struct template *template = &at->config->templates[at->config->template_count - 1];
	if (template_section_take(&at->section, template, &err) == 0)
		return 0;
	at->line = at->section_line;
	return fail(at, "%s", err.message);
}

static int begin_section(struct parsing *at, char *text)
{
	struct config_text *config = at->config;
	size_t length = strlen(text);
	if (text[length - 1] != ']' || strncmp(text, "[template ", 10) != 0)
		return fail(at, "a section begins with [template NAME]");
	text[length - 1] = '\0';
	const char *name = trim(text + 10);
	if (!is_template_name(name))
		return fail(at, "`%.100s` is not the name of a template: 1 to %d letters, digits, `.`, `_` and `-`", name,
		            TEMPLATE_NAME_BYTES);
	for (size_t i = 0; i < config->template_count; i++)
		if (strcmp(config->templates[i].name, name) == 0)
			return fail(at, "there is a template `%s` already", name);
	if (end_section(at) < 0)
		return -1;
	if (config->template_count == TEMPLATES_MOST)
		return fail(at, "a file has at most %d templates", TEMPLATES_MOST);
	struct template *template = &config->templates[config->template_count++];
	*template = (struct template){.env_count = 0};
	snprintf(template->name, sizeof template->name, "%s", name);
	at->section = (struct template_section){.env = {.count = 0}};
	memset(at->given, 0, sizeof at->given);
	at->is_in_template = true;
	at->section_line = at->line;
	return 0;
}

/* --- lines ---------------------------------------------------------------------------------------------------- */

static int read_line(struct parsing *at, char *line)
{
	char *text = trim(line);
	if (text[0] == '\0' || text[0] == '#')
		return 0;
	if (text[0] == '[')
		return begin_section(at, text);
	char *equals = strchr(text, '=');
	if (!equals)
		return fail(at, "`%.100s` is neither `name = value`, nor [template NAME], nor a # comment", text);
	*equals = '\0';
	return read_entry(at, trim(text), trim(equals + 1));
}

int config_parse(struct config_text *config, FILE *out)
{
	struct parsing at = {.config = config, .out = out};
	for (char *line = config->text, *next; line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		at.line++;
		if (read_line(&at, line) < 0)
			return -1;
	}
	return end_section(&at);
}
