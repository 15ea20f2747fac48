#include "confine.h"

#include "inherit.h"
#include "sandbox/landlock.h"

#include <asm/termbits.h>
#include <errno.h>
#include <fcntl.h>
#include <seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifdef __SANITIZE_ADDRESS__
enum { IS_INSTRUMENTED = 1 };
#else
enum { IS_INSTRUMENTED = 0 };
#endif

enum call_kind { KIND_CALL, KIND_CHECKED, KIND_SANITIZER };

struct call_row {
	const char *name;
	enum call_kind kind;
};

static const struct call_row rows[] = {
#define CALL(name) {#name, KIND_CALL},
#define CHECKED(name) {#name, KIND_CHECKED},
#define SANITIZER(name) {#name, KIND_SANITIZER},
#include "confine_table.def"
#undef CALL
#undef CHECKED
#undef SANITIZER
};

/* CALL is allowed where the low word of ARGUMENT, masked, is VALUE. */
struct check_row {
	const char *name;
	unsigned argument;
	uint32_t mask, value;
};

#define ALL 0xffffffffu

/* Of ioctl(2) what terminals, pipes and sockets take; F_SETFL does the rest. */
static const struct check_row checks[] = {
	{"ioctl", 1, ALL, FIONREAD}, {"ioctl", 1, ALL, FIONBIO},    {"ioctl", 1, ALL, TIOCSWINSZ},
	{"ioctl", 1, ALL, TIOCSIG},  {"ioctl", 1, ALL, TIOCGWINSZ}, {"ioctl", 1, ALL, TCGETS},
	{"mmap", 2, PROT_EXEC, 0},   {"mprotect", 2, PROT_EXEC, 0},
};

static int allow(scmp_filter_ctx filter, const struct call_row *row)
{
	int number = seccomp_syscall_resolve_name(row->name);
	if (number < 0 || row->kind == KIND_CHECKED || (row->kind == KIND_SANITIZER && !IS_INSTRUMENTED))
		return 0; /* this architecture has no such call, or it is allowed elsewhere, or not here */
	return seccomp_rule_add(filter, SCMP_ACT_ALLOW, number, 0);
}

static int allow_checked(scmp_filter_ctx filter, const struct check_row *row)
{
	int number = seccomp_syscall_resolve_name(row->name);
	return number < 0 ? 0
	                  : seccomp_rule_add(filter, SCMP_ACT_ALLOW, number, 1,
	                                     SCMP_CMP(row->argument, SCMP_CMP_MASKED_EQ, row->mask, row->value));
}

/* abort(3) signals itself, and nobody else is signalled. */
static int allow_itself(scmp_filter_ctx filter)
{
	return seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(tgkill), 1,
	                        SCMP_CMP(0, SCMP_CMP_MASKED_EQ, ALL, (uint32_t)getpid()));
}

static int fill(scmp_filter_ctx filter)
{
	int result = allow_itself(filter);
	for (size_t i = 0; result == 0 && i < sizeof rows / sizeof *rows; i++)
		result = allow(filter, &rows[i]);
	for (size_t i = 0; result == 0 && i < sizeof checks / sizeof *checks; i++)
		result = allow_checked(filter, &checks[i]);
	return result == 0 ? seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2) : result;
}

static int restrict_calls(struct error *err)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(ENOSYS));
	if (!filter)
		return error_set(err, ENOMEM, "make the list of system calls");
	seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
	int result = fill(filter);
	if (result == 0)
		result = seccomp_load(filter);
	seccomp_release(filter);
	return result == 0 ? 0 : error_set(err, -result, "restrict the system calls");
}

/* An instrumented gateway reads its own program for a report, and writes it where its options say. */
static size_t add_reports(struct landlock_rule *rules)
{
	static char path[256];
	const char *options = IS_INSTRUMENTED ? getenv("ASAN_OPTIONS") : NULL;
	const char *at = options ? strstr(options, "log_path=") : NULL;
	if (!IS_INSTRUMENTED)
		return 0;
	rules[0] = (struct landlock_rule){.path = "/", .rights = LANDLOCK_READ};
	if (!at || sscanf(at, "log_path=%255[^:]", path) != 1 || !strrchr(path, '/'))
		return 1;
	*strrchr(path, '/') = '\0';
	rules[1] = (struct landlock_rule){.path = path, .rights = LANDLOCK_CHANGE};
	return 2;
}

static int restrict_files(struct error *err)
{
	struct landlock_rule rules[5] = {
		{.fd = INHERIT_SESSIONS, .rights = LANDLOCK_CHANGE},
		{.fd = INHERIT_TOKENS, .rights = LANDLOCK_CHANGE},
		{.path = "/dev/null", .rights = LANDLOCK_EDIT},
	};
	size_t count = 3 + add_reports(rules + 3);
	return landlock_restrict(rules, count, true) < 0 ? error_set(err, errno, "restrict the files") : 0;
}

/* What is read once, and could not be any more: the time zone. */
int gateway_confine(struct error *err)
{
	tzset();
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return error_set(err, errno, "give up new privileges");
	return restrict_files(err) < 0 ? -1 : restrict_calls(err);
}
