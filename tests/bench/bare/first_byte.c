#include "first_byte.h"

#include "measure.h"

#include <fcntl.h>
#include <unistd.h>

static uint64_t first_byte_once(char *const *tool)
{
	int ends[2];
	char byte, rest[16];
	if (pipe2(ends, O_CLOEXEC) != 0)
		die("pipe2");
	uint64_t begin = now_ns();
	pid_t pid = start(tool, ends[1], 0);
	close(ends[1]);
	ssize_t got = read(ends[0], &byte, 1);
	uint64_t taken = now_ns() - begin;
	while (read(ends[0], rest, sizeof rest) > 0)
		;
	close(ends[0]);
	wait_for(pid);
	if (got != 1)
		die(tool[0]);
	return taken;
}

int first_byte_main(int argc, char **argv, const char *name, char *const *tool)
{
	uint64_t runs = 100, pause_ms = 0;
	const struct option_row options[] = {
		{"--runs", &runs, "how often"}, {"--pause", &pause_ms, "milliseconds between two"}, {NULL, NULL, NULL}};
	struct samples samples;
	options_read(argc, argv, options);
	samples_init(&samples, runs);
	for (uint64_t i = 0; i < runs; i++) {
		usleep((useconds_t)pause_ms * 1000);
		samples_add(&samples, first_byte_once(tool));
	}
	samples_print(&samples, name);
	samples_finish(&samples);
	return 0;
}
