/*
 * width.h: how many columns a character takes.
 */
#ifndef SANDBAR_TERMINAL_WIDTH_H
#define SANDBAR_TERMINAL_WIDTH_H

#include <stdbool.h>
#include <stdint.h>

/* 0 for what combines with the character before it, 1, or 2. Control characters are 0. */
uint32_t width_of(uint32_t character);

/* True if emulators do not agree on it: emoji, and what combines. */
bool width_is_disputed(uint32_t character);

#endif
