#include "params.h"

#include <stdbool.h>
#include <string.h>

static bool comes_again(const char *const *pair)
{
	size_t name = strcspn(*pair, "=");

	for (const char *const *later = pair + 1; *later; later++)
		if (strcspn(*later, "=") == name && strncmp(*later, *pair, name) == 0)
			return true;
	return false;
}

void params_pairs(struct writer *params, const char *key, const char *const *pairs)
{
	uint32_t count = 0;

	for (const char *const *pair = pairs; *pair; pair++)
		count += !comes_again(pair);
	writer_str(params, key);
	writer_map(params, count);
	for (; *pairs; pairs++) {
		if (comes_again(pairs))
			continue;
		size_t name = strcspn(*pairs, "=");
		writer_strn(params, *pairs, name);
		const char *value = (*pairs)[name] ? *pairs + name + 1 : "";
		writer_strn(params, value, strlen(value));
	}
}
