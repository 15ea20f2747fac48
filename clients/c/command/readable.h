/*
 * readable.h: numbers of the wire as people read them. What a number counts, its field's name says (protocol/PROTOCOL.md).
 */
#ifndef SANDBAR_COMMAND_READABLE_H
#define SANDBAR_COMMAND_READABLE_H

#include "protocol/reader.h"

#include <stdio.h>

/* A field's name without its unit: "created" of created_us. */
void readable_key(FILE *out, struct view key);

/* NUMBER, the field KEY of the map that is called PARENT there: "64 MiB", "2h", "2030-01-31 14:05, 3m ago", "no limit". */
void readable_number(FILE *out, struct view parent, struct view key, uint64_t number);

#endif
