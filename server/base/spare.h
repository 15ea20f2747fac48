/*
 * spare.h: a file that is replaced as a whole, on a disk that is full too.
 *
 * It is written beside and moved into place. Where there is no room for that, its spare is written and exchanged with it: a
 * second file, `NAME.spare`, made while there was room, with some room more than the last text needed. What is shorter than its
 * spare ends in empty lines.
 */
#ifndef SANDBAR_SPARE_H
#define SANDBAR_SPARE_H

#include "sandbox/error.h"

#include <stdbool.h>

struct spare_file {
	int directory;
	const char *name;
	bool is_synced;  /* it stands on disk when it is told to be written */
	bool is_changed; /* it may change once more: it has a spare, as soon as there is room for one */
};

enum {
	SPARE_NAME_BYTES = 64, /* room for NAME.spare */
	SPARE_BLOCK = 4096,
	SPARE_SLACK = 1024,
	SPARE_MORE = SPARE_SLACK + SPARE_BLOCK -
	             1 /* most bytes that a spare is larger than the longest text that was written */
};

/* -1 on error (ENOSPC: no room, nor a spare that is large enough); the file is then what it was. */
int spare_file_replace(const struct spare_file *file, const char *text, struct error *err);
/* Make the spare of a file that is there. */
void spare_file_reserve(const struct spare_file *file);
void spare_file_drop(int directory, const char *name); /* the spare alone */

#endif
