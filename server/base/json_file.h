/*
 * json_file.h: a state file of ours that is JSON: read whole, replaced whole, also on a full disk (spare.h).
 */
#ifndef SANDBAR_JSON_FILE_H
#define SANDBAR_JSON_FILE_H

#include "spare.h"

#include <jansson.h>
#include <stddef.h>

/* NULL with ERR: its errnum is ENOENT where there is no such file, EFBIG where it has more than MOST bytes
 * (and the empty lines of a spare), 0 where it is no JSON. */
json_t *json_file_read(int directory, const char *name, size_t most, struct error *err);
/* Write JSON, which is taken over and may be NULL (then it could not be made), with FLAGS of json_dumps(). -1 on error. */
int json_file_replace(const struct spare_file *file, json_t *json, size_t flags, struct error *err);

#endif
