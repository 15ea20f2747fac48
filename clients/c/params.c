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
		writer_str(params, (*env)[name] ? *env + name + 1 : "");
	}
}
