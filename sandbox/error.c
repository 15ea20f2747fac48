#include "error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int error_set(struct error *err, int errnum, const char *format, ...)
{
	if (!err)
		return -1;
	err->errnum = errnum;
	va_list args;
	va_start(args, format);
	int length = vsnprintf(err->message, sizeof err->message, format, args);
	va_end(args);
	if (errnum != 0 && length >= 0 && (size_t)length < sizeof err->message)
		snprintf(err->message + length, sizeof err->message - (size_t)length, ": %s", strerrordesc_np(errnum));
	return -1;
}

int error_prefix(struct error *err, const char *format, ...)
{
	if (!err)
		return -1;
	char before[ERROR_MESSAGE_BYTES];
	char whole[2 * ERROR_MESSAGE_BYTES + 3];
	va_list args;
	va_start(args, format);
	vsnprintf(before, sizeof before, format, args);
	va_end(args);
	snprintf(whole, sizeof whole, "%s: %s", before, err->message);
	memcpy(err->message, whole, sizeof err->message - 1);
	err->message[sizeof err->message - 1] = '\0';
	return -1;
}
