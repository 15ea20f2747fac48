/*
 * libvterm over the same bytes, with its screen, whose damage is gathered by rows, as its users have it.
 */
#include "tests/bench/bare/measure.h"
#include "vt_input.h"

#include <stdlib.h>
#include <vterm.h>

int main(int argc, char **argv)
{
	uint64_t kind = VT_PLAIN, rounds = 4;
	const struct option_row options[] = {
		{"--kind", &kind, "0 text, 1 coloured, 2 redraws"}, {"--rounds", &rounds, "over 4 MiB"}, {NULL, NULL, NULL}};
	options_read(argc, argv, options);
	uint8_t *input = vt_input(kind);
	VTerm *terminal = vterm_new(24, 80);
	vterm_set_utf8(terminal, 1);
	VTermScreen *screen = vterm_obtain_screen(terminal);
	vterm_screen_set_damage_merge(screen, VTERM_DAMAGE_SCROLL);
	vterm_screen_reset(screen, 1);
	uint64_t begin = now_ns();
	for (uint64_t i = 0; i < rounds; i++)
		for (size_t at = 0; at < VT_INPUT_BYTES; at += VT_CHUNK_BYTES) {
			vterm_input_write(terminal, (const char *)input + at, VT_CHUNK_BYTES);
			vterm_screen_flush_damage(screen);
		}
	rate_print("vt_libvterm", rounds * VT_INPUT_BYTES, now_ns() - begin);
	vterm_free(terminal);
	free(input);
	return 0;
}
