#include "context.h"

#include <stdlib.h>
#include <string.h>

static size_t count_of(const char *const *context)
{
	size_t count = 0;
	while (context && context[count])
		count++;
	return count;
}

char **context_copy(const char *const *context)
{
	size_t count = count_of(context);
	char **copy = calloc(count + 1, sizeof *copy);
	for (size_t i = 0; copy && i < count; i++)
		if (!(copy[i] = strdup(context[i])))
			abort();
	if (!copy)
		abort();
	return copy;
}

void context_destroy(char **context)
{
	for (char **at = context; at && *at; at++)
		free(*at);
	free(context);
}

void context_write(struct writer *writer, const char *const *context)
{
	size_t count = count_of(context);
	writer_map(writer, (uint32_t)(count / 2));
	for (size_t i = 0; i < count; i++)
		writer_str(writer, context[i]);
}
