/*
 * first_byte.h: a command in a sandbox of some other tool's making, up to the first byte that it writes.
 */
#ifndef SANDBAR_BENCH_FIRST_BYTE_H
#define SANDBAR_BENCH_FIRST_BYTE_H

/* Run ARGV, of which the last word is the command's and is written by it, as often as the program's options say, and print the
 * samples as NAME's. The end of a run is waited for, but not measured. Returns the exit code. */
int first_byte_main(int argc, char **argv, const char *name, char *const *tool);

#endif
