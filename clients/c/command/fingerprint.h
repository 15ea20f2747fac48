/*
 * fingerprint.h: SHA-256 over what a proof depends on. One that changed says that what was proved must be proved again.
 */
#ifndef SANDBAR_COMMAND_FINGERPRINT_H
#define SANDBAR_COMMAND_FINGERPRINT_H

#include <stddef.h>

enum { FINGERPRINT_BYTES = 64 + 1 }; /* as hexadecimal text */

void fingerprint_of(const void *data, size_t length, char text[FINGERPRINT_BYTES]);
/* The same of the lines of TEXT, in whatever order they stand. TEXT (LENGTH bytes and a NUL) is taken apart. */
void fingerprint_of_lines(char *text, size_t length, char fingerprint[FINGERPRINT_BYTES]);

#endif
