/*
 * A configuration file of any bytes: what is taken is of the fixed form that the keeper and the gateway rely on, and what
 * is refused is told in one line with the file's name and the line's number.
 */
#include "sandbox/inner_user.h"
#include "server/keeper/config_parse.h"
#include "server/keeper/options.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static void check_entries(const struct config_file *file)
{
	assert(file->count <= CONFIG_ENTRIES);
	for (uint32_t i = 0; i < file->count; i++) {
		const struct config_entry *entry = &file->entries[i];
		assert(entry->flag < options_table.count && !options_table.flags[entry->flag].only_argument);
		assert(entry->line > 0 && memchr(entry->text, '\0', sizeof entry->text));
	}
}

/* As the gateway reads it: ENV_COUNT texts with a `=` in ENV_BYTES bytes. */
static void check_template(const struct template *template)
{
	assert(template->name[0] && memchr(template->name, '\0', sizeof template->name));
	assert(template->env_bytes <= sizeof template->env && template->user < INNER_USERS);
	const char *at = template->env, *end = template->env + template->env_bytes;
	for (uint32_t i = 0; i < template->env_count; i++) {
		const char *nul = memchr(at, '\0', (size_t)(end - at));
		assert(nul && memchr(at, '=', (size_t)(nul - at)));
		at = nul + 1;
	}
	assert(at == end);
}

static void check_refusal(const char *told, size_t length)
{
	static const char begin[] = "sandbard: FILE:";
	assert(length > sizeof begin && memcmp(told, begin, sizeof begin - 1) == 0);
	assert(told[sizeof begin - 1] >= '1' && told[sizeof begin - 1] <= '9' && told[length - 1] == '\n');
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
	static struct config_file file;
	static struct template templates[TEMPLATES_MOST];
	char *told = NULL, *text = malloc(size + 1);
	size_t length = 0;
	FILE *out = open_memstream(&told, &length);
	assert(text && out);
	memcpy(text, input, size);
	text[size] = '\0';
	file.count = 0;
	struct config_text config = {.path = "FILE", .text = text, .file = &file, .templates = templates};
	int result = config_parse(&config, out);
	fclose(out);
	assert(config.template_count <= TEMPLATES_MOST);
	check_entries(&file);
	if (result < 0)
		check_refusal(told, length);
	for (size_t i = 0; result == 0 && i < config.template_count; i++)
		check_template(&templates[i]);
	assert(result < 0 || length == 0);
	free(text);
	free(told);
	return 0;
}
