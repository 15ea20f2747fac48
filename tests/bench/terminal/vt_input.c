#include "vt_input.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t state = 1;

static uint32_t below(uint32_t count)
{
	state = state * 1664525u + 1013904223u;
	return (state >> 8) % count;
}

static const char *word(void)
{
	static const char *const words[] = {"the",  "terminal", "writes", "a",    "line", "of",    "text", "with",
	                                    "some", "words",    "that",   "wrap", "once", "error", "note", "0x7ffd1c"};
	return words[below(sizeof words / sizeof words[0])];
}

static int write_plain(char *text, size_t room)
{
	size_t length = 0, wanted = 20 + below(90);
	while (length < wanted && length + 16 < room)
		length += (size_t)snprintf(text + length, room - length, "%s ", word());
	return (int)length + snprintf(text + length, room - length, "\r\n");
}

static int write_coloured(char *text, size_t room)
{
	return snprintf(
		text, room,
		"\x1b[1;3%um%s\x1b[0m:\x1b[36m%u\x1b[39m: %s %s \x1b[38;5;%um%s\x1b[m %s \x1b[48;2;%u;20;30m%s\x1b[K\x1b[m\r\n",
		below(8), word(), below(999), word(), word(), below(256), word(), word(), below(256), word());
}

static int write_redraw(char *text, size_t room)
{
	return snprintf(
		text, room,
		"\x1b[%u;%uH\x1b[3%um%s %s\x1b[0;7m %s \x1b[27m\x1b[K\x1b[%u;1H\x1b[%uL\x1b[38;5;%um\xe2\x94\x82%s\x1b[m",
		1 + below(24), 1 + below(60), below(8), word(), word(), word(), 1 + below(24), 1 + below(2), below(256),
		word());
}

uint8_t *vt_input(uint64_t kind)
{
	static int (*const writers[VT_KINDS])(char *text, size_t room) = {write_plain, write_coloured, write_redraw};
	char *bytes = malloc(VT_INPUT_BYTES + 256);
	if (!bytes || kind >= VT_KINDS)
		exit(2);
	for (size_t length = 0; length < VT_INPUT_BYTES;)
		length += (size_t)writers[kind](bytes + length, 256);
	return (uint8_t *)bytes;
}
