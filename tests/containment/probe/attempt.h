/*
 * attempt.h: how rows are run, and what rows of one kind share.
 */
#ifndef SANDBAR_PROBE_ATTEMPT_H
#define SANDBAR_PROBE_ATTEMPT_H

#include "probe.h"

/* errno where RESULT is negative, else OUTCOME_OPEN. */
int outcome_of(long result);
/* The same of a descriptor, which is closed. */
int outcome_of_fd(int fd);

/* ---- Functions for rows ---- */

int attempt_call(const struct probe *probe); /* system call `number` with `arguments` */
int attempt_open(
	const struct probe *probe); /* open(path, number); nothing is read or written. OUTCOME_NOTHING for /dev/null */
int attempt_read(const struct probe *probe);   /* read `path`; OUTCOME_NOTHING when it is empty */
int attempt_list(const struct probe *probe);   /* the names in directory `path`; OUTCOME_NOTHING when there is none */
int attempt_absent(const struct probe *probe); /* lstat(path) */

/* ---- Rows ---- */

/* clang-format off */
#define E(...) {__VA_ARGS__}
#define CALL(name_, attempt_, control_, expected_, flags_, number_, ...)                                   \
	{.name = name_, .attempt = attempt_, .control = control_, .expected = expected_, .run = attempt_call, \
	 .number = number_, .arguments = {__VA_ARGS__}, .flags = flags_}
#define RUN(name_, attempt_, control_, expected_, flags_, function_) \
	{.name = name_, .attempt = attempt_, .control = control_, .expected = expected_, .run = function_, .flags = flags_}
#define PATH(name_, attempt_, control_, expected_, function_, path_, number_)                             \
	{.name = name_, .attempt = attempt_, .control = control_, .expected = expected_, .run = function_, \
	 .path = path_, .number = number_}
#define READ(name_, control_, expected_, path_)                                                                  \
	{.name = name_, .attempt = "read " path_, .control = control_, .expected = expected_, .run = attempt_read, \
	 .path = path_}
#define WRITE(name_, control_, expected_, path_)                                                         \
	{.name = name_, .attempt = "open " path_ " for writing", .control = control_, .expected = expected_, \
	 .run = attempt_open, .path = path_, .number = O_WRONLY}
/* clang-format on */

/* ---- Running ---- */

/* Whether a probe can have a process of its own here. */
bool attempt_can_fork(void);

/* Run PROBE in a child, or with IN_PLACE in this process, as far as it needs none. One that hangs is killed by SIGALRM. */
int attempt_run(const struct probe *probe, bool in_place);

bool attempt_is_expected(const struct probe *probe, int outcome);

/* "EPERM", "SIGSYS", "nothing", "open", "skipped". TEXT has room for OUTCOME_TEXT bytes. */
enum { OUTCOME_TEXT = 32, EXPECTED_TEXT = 4 * OUTCOME_TEXT };
void outcome_text(int outcome, char *text);
void expected_text(const int expected[PROBE_EXPECTED], char *text);

#endif
