/* How a process ended, as its client hears it: never 0 for what was killed, never a made-up number. */
#include "server/session/ending.h"
#include "protocol/check.h"
#include "values.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <string.h>

#define EXIT(code) ((code) << 8) /* as wait(2) encodes it */
#define CORE 0x80
#define BIT(signo) (UINT64_C(1) << (signo))
#define UNKNOWN UINT64_MAX

struct decision {
	int wait_status;
	struct intervention did;
	uint64_t oom_kills;
	int exit_code;
	const char *signal;
	enum reason reason;
	const char *control;
};

/* clang-format off */
static const struct decision decisions[] = {
	/* nobody did anything */
	{EXIT(0), {0}, 0, 0, NULL, REASON_EXITED, NULL},
	{EXIT(1), {0}, UNKNOWN, 1, NULL, REASON_EXITED, NULL},
	{EXIT(255), {0}, 0, 255, NULL, REASON_EXITED, NULL},
	{EXIT(137), {0}, 0, 137, NULL, REASON_EXITED, NULL},  /* `exit 137` was not killed */
	{EXIT(127), {0}, 0, 127, NULL, REASON_EXITED, NULL},
	{EXIT(126), {0}, 0, 126, NULL, REASON_EXITED, NULL},
	{SIGKILL, {0}, 0, 137, "SIGKILL", REASON_SIGNAL, NULL},
	{SIGKILL, {0}, UNKNOWN, 137, "SIGKILL", REASON_SIGNAL, NULL}, /* without a counter nobody claims oom */
	{SIGSEGV | CORE, {0}, 0, 139, "SIGSEGV", REASON_SIGNAL, NULL},
	{SIGTERM, {0}, 0, 143, "SIGTERM", REASON_SIGNAL, NULL},
	{SIGPIPE, {0}, 0, 141, "SIGPIPE", REASON_SIGNAL, NULL},
	{SIGABRT | CORE, {0}, 0, 134, "SIGABRT", REASON_SIGNAL, NULL},
	{34, {0}, 0, 162, "SIGRT", REASON_SIGNAL, NULL},
	{64, {0}, 0, 192, "SIGRT", REASON_SIGNAL, NULL},
	/* the kernel */
	{SIGKILL, {0}, 1, 137, "SIGKILL", REASON_OOM, "memory.max"},
	{SIGKILL, {0}, 7, 137, "SIGKILL", REASON_OOM, "memory.max"},
	{SIGTERM, {0}, 1, 143, "SIGTERM", REASON_SIGNAL, NULL},      /* a child was the victim, not the leader's end */
	{EXIT(1), {0}, 1, 1, NULL, REASON_EXITED, NULL},
	{SIGSYS | CORE, {0}, 0, 159, "SIGSYS", REASON_POLICY, "seccomp"},
	/* clients' signals: `killed` only where the wait status shows it */
	{SIGTERM, {.signals = BIT(SIGTERM)}, 0, 143, "SIGTERM", REASON_KILLED, NULL},
	{SIGINT, {.signals = BIT(SIGINT) | BIT(SIGTERM)}, 0, 130, "SIGINT", REASON_KILLED, NULL},
	{SIGKILL, {.signals = BIT(SIGTERM)}, 0, 137, "SIGKILL", REASON_SIGNAL, NULL},
	{EXIT(0), {.signals = BIT(SIGTERM)}, 0, 0, NULL, REASON_EXITED, NULL},
	{EXIT(143), {.signals = BIT(SIGTERM)}, 0, 143, NULL, REASON_EXITED, NULL},
	{SIGKILL, {.signals = BIT(SIGKILL)}, 1, 137, "SIGKILL", REASON_OOM, "memory.max"},
	{64, {.signals = BIT(63)}, 0, 192, "SIGRT", REASON_SIGNAL, NULL},
	/* clients' kills */
	{SIGKILL, {REASON_KILLED, NULL, 0}, 0, 137, "SIGKILL", REASON_KILLED, NULL},
	{SIGTERM, {REASON_KILLED, NULL, 0}, 0, 143, "SIGTERM", REASON_KILLED, NULL},
	{SIGKILL, {REASON_KILLED, NULL, 0}, 1, 137, "SIGKILL", REASON_KILLED, NULL},
	{EXIT(3), {REASON_KILLED, NULL, 0}, 0, 3, NULL, REASON_EXITED, NULL}, /* it was faster */
	/* clocks and limits: they hold also when the process took SIGTERM as a reason to exit by itself */
	{SIGKILL, {REASON_TIMEOUT, "wall", 0}, 0, 137, "SIGKILL", REASON_TIMEOUT, "wall"},
	{SIGTERM, {REASON_TIMEOUT, "wall", 0}, 0, 143, "SIGTERM", REASON_TIMEOUT, "wall"},
	{EXIT(0), {REASON_TIMEOUT, "wall", 0}, 0, 0, NULL, REASON_TIMEOUT, "wall"},
	{SIGKILL, {REASON_IDLE, "idle", 0}, 0, 137, "SIGKILL", REASON_IDLE, "idle"},
	{SIGTERM, {REASON_CPU, "cpu", 0}, 0, 143, "SIGTERM", REASON_CPU, "cpu"},
	{SIGKILL, {REASON_CPU, "cpu", 0}, 3, 137, "SIGKILL", REASON_CPU, "cpu"},
	{SIGPIPE, {REASON_OUTPUT_LIMIT, "output_bytes", 0}, 0, 141, "SIGPIPE", REASON_OUTPUT_LIMIT, "output_bytes"},
	{EXIT(0), {REASON_OUTPUT_LIMIT, "output_bytes", 0}, 0, 0, NULL, REASON_OUTPUT_LIMIT, "output_bytes"},
	{SIGKILL, {REASON_CANCELLED, "cancel", 0}, 0, 137, "SIGKILL", REASON_CANCELLED, "cancel"},
	{SIGKILL, {REASON_CANCELLED, "disconnect", BIT(SIGKILL)}, 0, 137, "SIGKILL", REASON_CANCELLED, "disconnect"},
	{SIGSYS, {REASON_TIMEOUT, "wall", 0}, 0, 159, "SIGSYS", REASON_TIMEOUT, "wall"},
};
/* clang-format on */

static bool is_same(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

Test(ending, every_way_to_end_is_told_apart)
{
	for (size_t i = 0; i < sizeof decisions / sizeof *decisions; i++) {
		const struct decision *row = &decisions[i];
		struct ending ending = {.usage = {.oom_kills = row->oom_kills}};
		ending_decide(&ending, row->wait_status, &row->did);
		cr_expect_eq(ending.exit_code, row->exit_code, "row %zu: %d", i, ending.exit_code);
		cr_expect(is_same(ending.signal, row->signal), "row %zu: %s", i, ending.signal);
		cr_expect_eq(ending.reason, row->reason, "row %zu: %s", i, reason_name(ending.reason));
		cr_expect(is_same(ending.control, row->control), "row %zu: %s", i, ending.control);
	}
}

/* Case 6: eight commands, eight results; none is 0, none is -1, no two are alike. */
Test(ending, the_eight_of_case_6_are_distinguishable)
{
	static const struct decision eight[] = {
		{SIGKILL, {0}, 0, 137, "SIGKILL", REASON_SIGNAL, NULL},
		{SIGSEGV, {0}, 0, 139, "SIGSEGV", REASON_SIGNAL, NULL},
		{EXIT(137), {0}, 0, 137, NULL, REASON_EXITED, NULL},
		{SIGKILL, {0}, 1, 137, "SIGKILL", REASON_OOM, NULL},
		{SIGTERM, {.signals = BIT(SIGTERM)}, 0, 143, "SIGTERM", REASON_KILLED, NULL},
		{SIGKILL, {REASON_CPU, "cpu", 0}, 0, 137, "SIGKILL", REASON_CPU, NULL},
		{EXIT(127), {0}, 0, 127, NULL, REASON_EXITED, NULL},
		{EXIT(126), {0}, 0, 126, NULL, REASON_EXITED, NULL},
	};
	enum { COUNT = sizeof eight / sizeof *eight };
	struct ending endings[COUNT] = {0};
	for (size_t i = 0; i < COUNT; i++) {
		endings[i].usage.oom_kills = eight[i].oom_kills;
		ending_decide(&endings[i], eight[i].wait_status, &eight[i].did);
		cr_expect(endings[i].exit_code > 0);
		for (size_t k = 0; k < i; k++)
			cr_expect(endings[i].exit_code != endings[k].exit_code || endings[i].reason != endings[k].reason ||
			              !is_same(endings[i].signal, endings[k].signal),
			          "%zu is told like %zu", i, k);
	}
}

Test(ending, signals_have_their_names_both_ways)
{
	for (int signo = 1; signo < 32; signo++) {
		const char *name = signal_name(signo), *listed = sigabbrev_np(signo);
		cr_assert(listed && strncmp(name, "SIG", 3) == 0, "signal %d is `%s`", signo, name);
		if (signo != SIGIO) /* glibc's name for it is POLL */
			cr_expect_str_eq(name + 3, listed);
		cr_expect_eq(signal_number(name, strlen(name)), signo, "%s", name);
		cr_expect_eq(signal_number(name + 3, strlen(name) - 3), signo, "%s", name + 3);
	}
	static const char *const none[] = {"",  "SIG",   "INT ",  " INT", "int",   "SIGint", "SIGSIGINT",
	                                   "9", "SIGRT", "RTMIN", "KIL",  "KILLL", "0"};
	for (size_t i = 0; i < sizeof none / sizeof *none; i++)
		cr_expect_eq(signal_number(none[i], strlen(none[i])), 0, "`%s`", none[i]);
	cr_expect_eq(signal_number("INTERRUPT", 3), SIGINT, "the length counts, not a NUL");
	for (int signo = 32; signo < 128; signo++)
		cr_expect_not_null(signal_name(signo));
}

static struct reader written(struct writer *writer, const struct ending *ending, const struct stream_offset *streams,
                             size_t count)
{
	writer_reset(writer);
	ending_write(writer, ending, streams, count);
	cr_assert_not(writer->failed);
	struct check_report report;
	cr_assert(check_message(writer->data, writer->length, &report), "%s", report.what);
	cr_assert_eq(report.values, 1);
	return reader_over(writer->data, writer->length);
}

Test(ending, the_map_has_every_key_of_the_protocol)
{
	struct writer writer;
	writer_init(&writer, 4096);
	const struct ending killed = {.reason = REASON_OOM,
	                              .exit_code = 137,
	                              .signal = "SIGKILL",
	                              .control = "memory.max",
	                              .wall_us = 1234567,
	                              .usage = {1000, 2000, UINT64_C(1) << 40, 1, 0}};
	const struct stream_offset pipes[] = {{STREAM_STDOUT, UINT64_C(1) << 33, true}, {STREAM_STDERR, 0, false}};
	struct reader map = written(&writer, &killed, pipes, 2);
	cr_expect_eq(map_count(map), 8);
	cr_expect_eq(map_uint(map, "exit_code"), 137);
	cr_expect(map_is(map, "signal", "SIGKILL") && map_is(map, "reason", "oom") && map_is(map, "control", "memory.max"));
	cr_expect(map_is_nil(map, "message"));
	cr_expect_eq(map_count(map_map(map, "offsets")), 2);
	cr_expect_eq(map_uint(map_map(map, "offsets"), "stdout"), UINT64_C(1) << 33);
	cr_expect_eq(map_uint(map_map(map, "offsets"), "stderr"), 0);
	uint32_t open;
	struct reader names = map_array(map, "streams_open", &open);
	struct view name;
	cr_expect(open == 1 && reader_str(&names, &name) && view_equals(name, "stdout"));
	struct reader usage = map_map(map, "usage");
	cr_expect_eq(map_count(usage), 4);
	cr_expect(map_uint(usage, "wall_us") == 1234567 && map_uint(usage, "user_us") == 1000);
	cr_expect(map_uint(usage, "system_us") == 2000 && map_uint(usage, "memory_peak") == UINT64_C(1) << 40);
	writer_finish(&writer);
}

Test(ending, what_cannot_be_known_is_nil)
{
	struct writer writer;
	writer_init(&writer, 4096);
	const struct ending lost = {.reason = REASON_LOST,
	                            .exit_code = -1,
	                            .message = "the sandbox ended",
	                            .usage = {UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN}};
	const struct stream_offset tty = {STREAM_TTY, 7, false};
	struct reader map = written(&writer, &lost, &tty, 1);
	cr_expect(map_is_nil(map, "exit_code") && map_is_nil(map, "signal") && map_is_nil(map, "control"));
	cr_expect(map_is(map, "reason", "lost") && map_is(map, "message", "the sandbox ended"));
	cr_expect(map_count(map_map(map, "offsets")) == 1 && map_uint(map_map(map, "offsets"), "tty") == 7);
	uint32_t open;
	map_array(map, "streams_open", &open);
	cr_expect_eq(open, 0);
	struct reader usage = map_map(map, "usage");
	cr_expect(map_is_nil(usage, "user_us") && map_is_nil(usage, "system_us") && map_is_nil(usage, "memory_peak"));
	cr_expect_eq(map_uint(usage, "wall_us"), 0);
	for (enum reason reason = REASON_EXITED; reason < REASON_COUNT; reason++) {
		const struct ending ending = {.reason = reason};
		cr_expect(map_is(written(&writer, &ending, &tty, 1), "reason", reason_name(reason)));
	}
	writer_finish(&writer);
}
