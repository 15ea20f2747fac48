/*
 * seccomp_guard.c: allowed calls whose arguments decide (seccomp_guard.def), as instructions.
 *
 * Only the low 32 bits of an argument are compared, unless it is a pointer, because the kernel too looks at no more of these: with a
 * whole-word comparison ioctl(fd, 0x100005412) would pass as something else than TIOCSTI (CVE-2019-10063). Outside of
 * their rows the guards use only what the kernel's cache of always-allowed calls can see through (Linux 5.11), so
 * that other calls pay nothing.
 */
#include "seccomp.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/personality.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>

enum {
	GUARD_VALUES = 4,
	GUARD_CONDITIONS = 2,
	LONGEST_ROW = 3 + GUARD_CONDITIONS * (3 + GUARD_VALUES),
	INIT = 1, /* its process id inside */
	WHO_PROCESS = 1,
	WHO_USER = 3,       /* of ioprio_set(2): the kernel's include/uapi/linux/ioprio.h */
	SPECULATION_ON = 2, /* PR_SPEC_ENABLE */
	MEMORY_MERGE = 67,  /* PR_SET_MEMORY_MERGE of Linux 6.4 */
};

struct guard_condition {
	bool used;
	uint8_t argument;
	bool high;     /* the argument's high word, instead of the low one */
	bool other;    /* true: holds when the argument is none of the values; false: when it is one of them */
	uint32_t mask; /* of that word */
	uint8_t count;
	uint32_t values[GUARD_VALUES];
};

struct guard_row {
	int call;
	uint16_t errnum;
	uint8_t programs; /* bits of enum seccomp_program */
	struct guard_condition conditions[GUARD_CONDITIONS];
};

#define DEFAULT (1u << SECCOMP_PROGRAM_DEFAULT)
#define BUILD (1u << SECCOMP_PROGRAM_BUILD)
#define COMPUTE (1u << SECCOMP_PROGRAM_COMPUTE)
#define BASE (DEFAULT | BUILD)
#define ALL 0xffffffffu
#define SOCKET_KIND 0xfu /* the rest of a socket's type are flags: SOCK_TYPE_MASK of the kernel */
#define NAMESPACES                                                                                       \
	(uint32_t)(CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET | \
	           CLONE_NEWCGROUP)
#define COUNT(...) (sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))
/* clang-format off */
#define IS(argument, mask, ...) {true, argument, false, false, mask, COUNT(__VA_ARGS__), {__VA_ARGS__}}
#define IS_NOT(argument, mask, ...) {true, argument, false, true, mask, COUNT(__VA_ARGS__), {__VA_ARGS__}}
#define HIGH_IS_NOT(argument, ...) {true, argument, true, true, ALL, COUNT(__VA_ARGS__), {__VA_ARGS__}}

#define ALWAYS {.used = false}
#define GUARD(programs, call, errnum, ...) {SYS_##call, errnum, programs, {__VA_ARGS__}},

static const struct guard_row rows[] = {
#include "seccomp_guard.def"
};
#undef GUARD
/* clang-format on */

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offsetof(struct seccomp_data, field))

static uint32_t word_of(const struct guard_condition *condition)
{
	size_t offset = offsetof(struct seccomp_data, args) + condition->argument * sizeof(uint64_t);
	return (uint32_t)offset + (condition->high == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) ? 4 : 0);
}

/* Instructions of a condition: two to load, one for each value, and one jump for when it is "other". */
static size_t condition_length(const struct guard_condition *condition)
{
	return condition->used ? 2u + condition->count + (condition->other ? 0u : 1u) : 0;
}

/* Falls through when the condition holds, else jumps over the REST instructions that follow it. */
static size_t compile_condition(struct sock_filter *code, const struct guard_condition *condition, size_t rest)
{
	if (!condition->used)
		return 0;
	size_t n = 0;
	code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, word_of(condition));
	code[n++] = (struct sock_filter)BPF_STMT(BPF_ALU | BPF_AND | BPF_K, condition->mask);
	for (unsigned i = 0; i < condition->count; i++) {
		size_t left = condition->count - i - 1u;
		size_t hit = condition->other ? left + rest : left + 1;
		code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, condition->values[i], (uint8_t)hit, 0);
	}
	if (!condition->other)
		code[n++] = (struct sock_filter)BPF_STMT(BPF_JMP | BPF_JA, (uint32_t)rest);
	return n;
}

/* Enters and leaves with the call's number in the accumulator. */
static size_t compile_row(struct sock_filter *code, const struct guard_row *row)
{
	size_t lengths[GUARD_CONDITIONS + 1];
	size_t rest = 1; /* the return */
	for (size_t i = GUARD_CONDITIONS; i > 0; i--) {
		lengths[i] = rest;
		rest += condition_length(&row->conditions[i - 1]);
	}
	size_t n = 0;
	code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)row->call, 0, (uint8_t)(rest + 1));
	for (size_t i = 0; i < GUARD_CONDITIONS; i++)
		n += compile_condition(code + n, &row->conditions[i], lengths[i + 1]);
	code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | row->errnum);
	code[n++] = (struct sock_filter)LOAD(nr);
	return n;
}

size_t seccomp_guard_compile(struct sock_filter *code, enum seccomp_program program)
{
	size_t n = 0;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		if (rows[i].programs & 1u << program)
			n += compile_row(code + n, &rows[i]);
		assert(n + LONGEST_ROW < SECCOMP_GUARD_INSTRUCTIONS);
	}
	return n;
}

bool seccomp_is_guarded(int call, enum seccomp_program program)
{
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if (rows[i].call == call && rows[i].programs & 1u << program)
			return true;
	return false;
}
