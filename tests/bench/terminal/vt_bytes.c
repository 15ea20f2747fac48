/*
 * Write the bytes that the others take, to stdout: for those that are not written in C.
 */
#include "tests/bench/bare/measure.h"
#include "vt_input.h"

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	uint64_t kind = VT_PLAIN;
	const struct option_row options[] = {{"--kind", &kind, "0 text, 1 coloured, 2 redraws"}, {NULL, NULL, NULL}};
	options_read(argc, argv, options);
	uint8_t *input = vt_input(kind);
	size_t written = fwrite(input, 1, VT_INPUT_BYTES, stdout);
	free(input);
	return written == VT_INPUT_BYTES && fflush(stdout) == 0 ? 0 : 1;
}
