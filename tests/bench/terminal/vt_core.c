/*
 * The VT core: how fast it takes what programs write, what a terminal costs in memory, and what a screen of it costs.
 */
#include "tests/bench/bare/measure.h"
#include "vt_input.h"

#include "server/terminal/terminal.h"

#include <stdio.h>
#include <stdlib.h>

enum { SCREENS = 200 };

/* Microseconds that one screen takes, and its bytes. */
static double screen_us(const struct terminal *terminal, size_t *length)
{
	uint64_t begin = now_ns();
	for (int i = 0; i < SCREENS; i++)
		free(terminal_screen(terminal, 0, length));
	return (double)(now_ns() - begin) / 1e3 / SCREENS;
}

int main(int argc, char **argv)
{
	uint64_t kind = VT_PLAIN, rounds = 40;
	const struct option_row options[] = {
		{"--kind", &kind, "0 text, 1 coloured, 2 redraws"}, {"--rounds", &rounds, "over 4 MiB"}, {NULL, NULL, NULL}};
	options_read(argc, argv, options);
	uint8_t *input = vt_input(kind);
	struct terminal *terminal = terminal_create(80, 24, TERMINAL_SCROLLBACK_LINES);
	struct terminal_answers answers;
	uint64_t begin = now_ns();
	for (uint64_t i = 0; i < rounds; i++)
		for (size_t at = 0; at < VT_INPUT_BYTES; at += VT_CHUNK_BYTES)
			terminal_feed(terminal, input + at, VT_CHUNK_BYTES, &answers);
	double seconds = (double)(now_ns() - begin) / 1e9;
	size_t length;
	double each = screen_us(terminal, &length);
	printf("{\"bench\": \"vt_core\", \"bytes\": %llu, \"seconds\": %.3f, \"mb_s\": %.1f, \"memory_kib\": %.1f, "
	       "\"screen_us\": %.1f, "
	       "\"screen_kib\": %.1f}\n",
	       (unsigned long long)(rounds * VT_INPUT_BYTES), seconds, (double)rounds * VT_INPUT_BYTES / 1e6 / seconds,
	       (double)terminal_memory(terminal) / 1024, each, (double)length / 1024);
	terminal_destroy(terminal);
	free(input);
	return 0;
}
