#include "failure.h"

#include <stdarg.h>
#include <stdio.h>

int failure_set(struct sandbar_error *error, const char *code, const char *format, ...)
{
	va_list arguments;

	if (!error)
		return -1;
	snprintf(error->code, sizeof(error->code), "%s", code);
	va_start(arguments, format);
	vsnprintf(error->message, sizeof(error->message), format, arguments);
	va_end(arguments);
	return -1;
}
