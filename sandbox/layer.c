#include "layer.h"

#include <stddef.h>
#include <string.h>

struct layer_row {
	const char *name;
	const char *summary;
};

static const struct layer_row rows[LAYER_COUNT] = {
#define LAYER(name, text, summary) [LAYER_##name] = {text, summary},
	LAYER_TABLE(LAYER)
#undef LAYER
};

const char *layer_name(enum layer layer)
{
	return (size_t)layer < LAYER_COUNT ? rows[layer].name : NULL;
}

const char *layer_summary(enum layer layer)
{
	return (size_t)layer < LAYER_COUNT ? rows[layer].summary : NULL;
}

int layer_find(const char *name)
{
	for (int i = 0; i < LAYER_COUNT; i++)
		if (strcmp(rows[i].name, name) == 0)
			return i;
	return -1;
}
