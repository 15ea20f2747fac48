#include "params.h"

#include <string.h>

void params_environment(struct writer *params, const char *const *env)
{
	uint32_t count = 0;

	while (env[count])
		count++;
	writer_str(params, "env");
	writer_map(params, count);
	for (; *env; env++) {
		size_t name = strcspn(*env, "=");
		writer_strn(params, *env, name);
		const char *value = (*env)[name] ? *env + name + 1 : "";
		writer_strn(params, value, strlen(value));
	}
}
