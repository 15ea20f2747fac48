#include "measure.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void usage(const char *program, const struct option_row *rows, FILE *to)
{
	fprintf(to, "usage: %s", program);
	for (const struct option_row *row = rows; row->name; row++)
		fprintf(to, " [%s N]", row->name);
	fprintf(to, "\n");
	for (const struct option_row *row = rows; row->name; row++)
		fprintf(to, "  %-10s %s (default %llu)\n", row->name, row->help, (unsigned long long)*row->value);
}

static const struct option_row *row_of(const char *word, const struct option_row *rows)
{
	for (; rows->name; rows++)
		if (strcmp(rows->name, word) == 0)
			return rows;
	return NULL;
}

int options_read(int argc, char **argv, const struct option_row *rows)
{
	for (int i = 1; i < argc; i += 2) {
		if (strcmp(argv[i], "--") == 0)
			return i + 1;
		if (strcmp(argv[i], "--help") == 0) {
			usage(argv[0], rows, stdout);
			exit(0);
		}
		const struct option_row *row = row_of(argv[i], rows);
		char *end = NULL;
		unsigned long long number = row && i + 1 < argc ? strtoull(argv[i + 1], &end, 10) : 0;
		if (!end || end == argv[i + 1] || *end) {
			usage(argv[0], rows, stderr);
			exit(2);
		}
		*row->value = number;
	}
	return argc;
}

uint64_t now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

uint64_t cpu_ns(pid_t pid)
{
	clockid_t clock;
	struct timespec used;
	errno = clock_getcpuclockid(pid, &clock);
	if (errno != 0 || clock_gettime(clock, &used) != 0)
		die("the processor time of a process");
	return (uint64_t)used.tv_sec * 1000000000U + (uint64_t)used.tv_nsec;
}

uint64_t raise_descriptors(void)
{
	struct rlimit limit;
	if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
		die("getrlimit");
	limit.rlim_cur = limit.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
		die("setrlimit");
	return limit.rlim_cur;
}

void samples_init(struct samples *samples, size_t capacity)
{
	*samples = (struct samples){.us = calloc(capacity, sizeof(double)), .capacity = capacity};
	if (!samples->us || capacity == 0)
		die("memory for the samples");
}

void samples_finish(struct samples *samples)
{
	free(samples->us);
	*samples = (struct samples){.us = NULL};
}

void samples_add(struct samples *samples, uint64_t nanoseconds)
{
	if (samples->count < samples->capacity)
		samples->us[samples->count++] = (double)nanoseconds / 1e3;
}

static int by_size(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;
	return (left > right) - (left < right);
}

/* The smallest sample that PERCENT of all do not exceed (nearest rank). */
static double percentile(const struct samples *sorted, size_t percent)
{
	size_t rank = (sorted->count * percent + 99) / 100;
	return sorted->us[rank > 0 ? rank - 1 : 0];
}

double samples_median(struct samples *samples)
{
	qsort(samples->us, samples->count, sizeof(double), by_size);
	return samples->count > 0 ? percentile(samples, 50) : 0;
}

void samples_write(struct samples *samples)
{
	qsort(samples->us, samples->count, sizeof(double), by_size);
	printf("\"runs\": %zu, \"p50_us\": %.1f, \"p95_us\": %.1f, \"p99_us\": %.1f", samples->count,
	       percentile(samples, 50), percentile(samples, 95), percentile(samples, 99));
}

void samples_print(struct samples *samples, const char *name)
{
	printf("{\"bench\": \"%s\", ", name);
	samples_write(samples);
	printf("}\n");
}

void rate_print(const char *name, uint64_t bytes, uint64_t nanoseconds)
{
	double seconds = (double)nanoseconds / 1e9;
	printf("{\"bench\": \"%s\", \"bytes\": %llu, \"seconds\": %.3f, \"mb_s\": %.1f}\n", name, (unsigned long long)bytes,
	       seconds, (double)bytes / 1e6 / seconds);
}

void die(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(1);
}

pid_t start(char *const *argv, int output, int is_terminal)
{
	pid_t pid = fork();
	if (pid < 0)
		die("fork");
	if (pid > 0)
		return pid;
	if (is_terminal && (setsid() < 0 || ioctl(output, TIOCSCTTY, 0) != 0))
		_exit(126);
	dup2(output, STDOUT_FILENO);
	if (is_terminal) {
		dup2(output, STDIN_FILENO);
		dup2(output, STDERR_FILENO);
	}
	execvp(argv[0], argv);
	_exit(127);
}

void wait_for(pid_t pid)
{
	siginfo_t info = {0};
	if (waitid(P_PID, (id_t)pid, &info, WEXITED) != 0)
		die("waitid");
	if (info.si_code != CLD_EXITED || info.si_status != 0) {
		fprintf(stderr, "a process of this benchmark left with %d\n", info.si_status);
		exit(1);
	}
}
