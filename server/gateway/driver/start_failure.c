#include "start_failure.h"
#include "sandbox/init/wire.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum subject { NOTHING, PROGRAM, DIRECTORY };

struct row {
	uint32_t phase; /* enum init_phase; 0 = any */
	int errnum;     /* 0 = any */
	int exit_code;
	const char *code;
	enum subject subject; /* what stands in quotes before the text */
	const char *text;
};

/* The first row that fits. Not having found a program is 127, having found it 126, as in a shell. */
/* clang-format off */
static const struct row rows[] = {
	{INIT_PHASE_EXEC, ENOENT,       127, "not_found",      PROGRAM,   "not found (or the interpreter that it names is not)"},
	{INIT_PHASE_EXEC, ENOTDIR,      127, "not_found",      PROGRAM,   "not found: a part of its path is not a directory"},
	{INIT_PHASE_EXEC, EACCES,       126, "forbidden",      PROGRAM,   "not executable: permission denied"},
	{INIT_PHASE_EXEC, EPERM,        126, "forbidden",      PROGRAM,   "not executable: not permitted"},
	{INIT_PHASE_EXEC, ENOEXEC,      126, "unsupported",    PROGRAM,   "not a program that this machine can run"},
	{INIT_PHASE_EXEC, EISDIR,       126, "forbidden",      PROGRAM,   "not executable: it is a directory"},
	{INIT_PHASE_EXEC, ETXTBSY,      126, "conflict",       PROGRAM,   "not executable: it is being written to"},
	{INIT_PHASE_EXEC, ENAMETOOLONG, 126, "invalid_params", PROGRAM,   "not executable: its name is too long"},
	{INIT_PHASE_EXEC, ELOOP,        126, "invalid_params", PROGRAM,   "not executable: too many symbolic links"},
	{INIT_PHASE_CWD,  ENOENT,       126, "not_found",      DIRECTORY, "the working directory does not exist"},
	{INIT_PHASE_CWD,  ENOTDIR,      126, "invalid_params", DIRECTORY, "the working directory is not a directory"},
	{INIT_PHASE_CWD,  EACCES,       126, "forbidden",      DIRECTORY, "the working directory is not accessible"},
	{INIT_PHASE_CWD,  0,            126, "invalid_params", DIRECTORY, "the working directory cannot be entered"},
	{0,               E2BIG,        0,   "limit",          NOTHING,   "the arguments and the environment are too large"},
	{INIT_PHASE_FORK, EAGAIN,       0,   "limit",          NOTHING,   "the session has as many processes and threads as it may have"},
	{INIT_PHASE_CGROUP, EAGAIN,     0,   "limit",          NOTHING,   "the session has as many processes and threads as it may have"},
	{INIT_PHASE_STREAMS, ENOSPC,    0,   "limit",          NOTHING,   "the session has as many terminals as it may have"},
	{0,               EMFILE,       0,   "limit",          NOTHING,   "the session has as many open streams as it may have"},
	{0,               ENFILE,       0,   "limit",          NOTHING,   "the host has no more open files"},
	{0,               ENOMEM,       0,   "limit",          NOTHING,   "there is no memory for another process"},
	{0,               EAGAIN,       0,   "limit",          NOTHING,   "the session has no room for another process"},
	{INIT_PHASE_EXEC, 0,            126, "internal",       PROGRAM,   "cannot be executed"},
	{INIT_PHASE_PAYLOAD, 0,         126, "invalid_params", NOTHING,   "the arguments could not be handed over"},
	{INIT_PHASE_STREAMS, 0,         126, "internal",       NOTHING,   "its streams could not be made"},
	{INIT_PHASE_CGROUP, 0,          126, "internal",       NOTHING,   "its cgroup could not be entered"},
	{INIT_PHASE_TERMINAL, 0,        126, "internal",       NOTHING,   "its terminal could not be made"},
	{INIT_PHASE_CONFINE, 0,         126, "internal",       NOTHING,   "it could not be confined, and so was not run"},
	{0,               0,            126, "internal",       NOTHING,   "it could not be started"},
};
/* clang-format on */

static const struct row *find(uint32_t phase, int errnum)
{
	const struct row *row = rows;
	while ((row->phase != 0 && row->phase != phase) || (row->errnum != 0 && row->errnum != errnum))
		row++;
	return row;
}

void start_failure_of_init(struct start_failure *failure, uint32_t phase, int errnum, const char *program,
                           const char *directory)
{
	const struct row *row = find(phase, errnum);
	const char *subjects[] = {[NOTHING] = "", [PROGRAM] = program, [DIRECTORY] = directory};
	failure->exit_code = row->exit_code;
	failure->code = row->code;
	int length = 0;
	if (row->subject != NOTHING)
		length = snprintf(failure->message, sizeof failure->message, "`%.120s`: ", subjects[row->subject]);
	size_t room = sizeof failure->message - (size_t)length;
	if (row->errnum == 0 && errnum > 0)
		snprintf(failure->message + length, room, "%s: %s", row->text, strerrordesc_np(errnum));
	else
		snprintf(failure->message + length, room, "%s", row->text);
}

void start_failure_of_driver(struct start_failure *failure, const char *code, const char *message)
{
	bool no_room = strcmp(code, "limit") == 0;
	*failure = (struct start_failure){.exit_code = no_room ? 0 : 126, .code = no_room ? "limit" : "internal"};
	snprintf(failure->message, sizeof failure->message, "%s", message);
}
