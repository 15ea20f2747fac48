/*
 * layers.h: the layers of isolation, as the server lists them: [{name, on, detail}].
 */
#ifndef SANDBAR_COMMAND_LAYERS_H
#define SANDBAR_COMMAND_LAYERS_H

#include "protocol/reader.h"

#include <stdio.h>

/* LAYERS stands before the list. True if all are on without which a sandbox is none. */
bool layers_are_sound(const struct reader *layers);

/* As a table. */
void layers_print(FILE *out, const struct reader *layers);

/* One line: that all essential ones are on, or which are not. */
void layers_print_verdict(FILE *out, const struct reader *layers);

#endif
