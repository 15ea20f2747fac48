/*
 * measure.h: what the comparators share: options, the clock, and their one line of JSON on stdout.
 *
 * A comparator that cannot do its work says why on stderr and leaves with 1; a wrong option leaves with 2.
 */
#ifndef SANDBAR_BENCH_MEASURE_H
#define SANDBAR_BENCH_MEASURE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* --name N */
struct option_row {
	const char *name;
	uint64_t *value;
	const char *help;
};

/* Read the options by a table that a row without a name ends. Returns the index in ARGV of the first word after `--`
 * (ARGC if there is none). */
int options_read(int argc, char **argv, const struct option_row *rows);

uint64_t now_ns(void);            /* CLOCK_MONOTONIC */
uint64_t cpu_ns(pid_t pid);       /* processor time of a process, all of its threads; dies if it is gone */
uint64_t raise_descriptors(void); /* to as many as this process may have; how many those are */

struct samples {
	double *us;
	size_t count, capacity;
};

void samples_init(struct samples *samples, size_t capacity);
void samples_finish(struct samples *samples);
void samples_add(struct samples *samples, uint64_t nanoseconds);

double samples_median(struct samples *samples); /* microseconds; 0 if there are none */
/* "runs": n, "p50_us": ..., "p95_us": ..., "p99_us": ... for who prints more than these. */
void samples_write(struct samples *samples);
/* {"bench": NAME, "runs": n, "p50_us": ..., "p95_us": ..., "p99_us": ...} */
void samples_print(struct samples *samples, const char *name);
/* {"bench": NAME, "bytes": n, "seconds": ..., "mb_s": ...}; a megabyte is 10^6 bytes. */
void rate_print(const char *name, uint64_t bytes, uint64_t nanoseconds);

void die(const char *what) __attribute__((noreturn)); /* with errno */

/* Start ARGV with OUTPUT as its stdout (and, if IS_TERMINAL, its stdin, stderr and controlling terminal too). */
pid_t start(char *const *argv, int output, int is_terminal);
void wait_for(pid_t pid); /* dies if it did not leave with 0 */

#endif
