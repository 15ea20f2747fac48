/*
 * event_shape.h: whether bytes from a disk are an event as clients may be sent one.
 */
#ifndef SANDBAR_EVENT_SHAPE_H
#define SANDBAR_EVENT_SHAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* FRAME (LENGTH bytes) is one well-formed value, of a known kind, with the fields that its kind has, and their types.
 * What stands in its maps, and in bytes, is not looked at. */
bool event_has_shape(const uint8_t *frame, size_t length);

#endif
