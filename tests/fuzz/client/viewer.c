/*
 * What passes from a program to the terminal of who watches. Input: a byte of flags, then output of a program. However it
 * is cut, the same passes; what passes is UTF-8 without controls of one byte, holds nothing that a terminal answers or
 * that reaches beyond the picture, and would pass as it is: there is nothing left to take out.
 */
#include "clients/c/command/screen.h"
#include "protocol/check.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 16384, ALLOWS_CLIPBOARD = 1, ONLY_SOUNDS = 2 };

struct passed {
	uint8_t *bytes;
	size_t length;
};

static struct passed feed(const uint8_t *bytes, size_t length, size_t piece, uint8_t flags)
{
	struct passed passed = {malloc(SCREEN_GROWTH * length + (length / piece + 2) * SCREEN_HELD), 0};
	struct screen *screen = malloc(sizeof *screen);
	assert(passed.bytes && screen);
	screen_init(screen);
	screen->allows_clipboard = flags & ALLOWS_CLIPBOARD;
	screen->only_sounds = flags & ONLY_SOUNDS;
	for (size_t at = 0; at < length; at += piece) {
		size_t now = length - at < piece ? length - at : piece;
		size_t more = screen_feed(screen, bytes + at, now, passed.bytes + passed.length);
		assert(more <= SCREEN_GROWTH * now + SCREEN_HELD);
		passed.length += more;
	}
	free(screen);
	return passed;
}

static bool has(const struct passed *passed, const char *what)
{
	return memmem(passed->bytes, passed->length, what, strlen(what)) != NULL;
}

/* The end of a string that was passed while it came may be missing. */
static void check_text(const struct passed *passed)
{
	static const char *const forbidden[] = {"\x05",  "\x1bP", "\x1b_",  "\x1b^",   "\x1bX",
	                                        "\x1bZ", "\x1b%", "\x1b[c", "\x1b[6n", "\x1b[5i"};
	for (size_t i = 0; i < sizeof forbidden / sizeof forbidden[0]; i++)
		assert(!has(passed, forbidden[i]));
	assert(check_utf8(passed->bytes, passed->length));
	for (size_t i = 0; i + 1 < passed->length; i++)
		assert(passed->bytes[i] != 0xc2 || passed->bytes[i + 1] >= 0xa0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 1 || size > MOST)
		return 0;
	struct passed whole = feed(data + 1, size - 1, MOST, data[0]);
	struct passed single = feed(data + 1, size - 1, 1, data[0]);
	struct passed again = feed(whole.bytes, whole.length, MOST, data[0]);
	assert(whole.length == single.length && memcmp(whole.bytes, single.bytes, whole.length) == 0);
	check_text(&whole);
	if (!(data[0] & ALLOWS_CLIPBOARD)) {
		assert(!has(&whole, "\x1b]52"));
		assert(whole.length == again.length && memcmp(whole.bytes, again.bytes, whole.length) == 0);
	}
	free(whole.bytes);
	free(single.bytes);
	free(again.bytes);
	return 0;
}
