#include "json_file.h"

#include "plain_file.h"

#include <errno.h>
#include <stdlib.h>

json_t *json_file_read(int directory, const char *name, size_t most, struct error *err)
{
	size_t length;
	char *text = plain_file_read(directory, name, most + SPARE_MORE, &length);
	if (!text) {
		error_set(err, errno, "read `%s`", name);
		return NULL;
	}
	json_t *json = json_loadb(text, length, JSON_REJECT_DUPLICATES, NULL);
	if (!json)
		error_set(err, 0, "`%s` is not JSON", name);
	free(text);
	return json;
}

int json_file_replace(const struct spare_file *file, json_t *json, size_t flags, struct error *err)
{
	char *text = json ? json_dumps(json, flags) : NULL;
	json_decref(json);
	if (!text)
		return error_set(err, 0, "make `%s`", file->name);
	int result = spare_file_replace(file, text, err);
	free(text);
	return result;
}
