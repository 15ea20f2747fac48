#include "state.h"

#include <stdlib.h>
#include <string.h>

static char *copy(const char *text)
{
	char *made = strndup(text, utf8_cut(text, strlen(text), TERMINAL_TITLE_BYTES));
	if (!made)
		abort();
	return made;
}

void title_init(struct title *title)
{
	*title = (struct title){.now = copy("")};
}

void title_finish(struct title *title)
{
	free(title->now);
	for (uint32_t i = 0; i < title->depth; i++)
		free(title->stack[i]);
	*title = (struct title){0};
}

void title_set(struct title *title, const char *text)
{
	char *before = title->now;
	title->now = copy(text);
	free(before);
}

void title_push(struct title *title)
{
	if (title->depth == TERMINAL_TITLE_STACK) {
		free(title->stack[0]);
		memmove(title->stack, title->stack + 1, (TERMINAL_TITLE_STACK - 1) * sizeof title->stack[0]);
		title->depth--;
	}
	title->stack[title->depth++] = copy(title->now);
}

void title_pop(struct title *title)
{
	if (title->depth == 0)
		return;
	free(title->now);
	title->now = title->stack[--title->depth];
}
