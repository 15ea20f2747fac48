/*
 * tree.h: a value of the wire as indented text for people: a line for each key, lists of maps as one line a row.
 */
#ifndef SANDBAR_COMMAND_TREE_H
#define SANDBAR_COMMAND_TREE_H

#include "protocol/reader.h"

#include <stdio.h>

/* MAP stands before a map. Numbers are told by what their fields count (readable.h). */
void tree_print(FILE *out, const struct reader *map);

#endif
