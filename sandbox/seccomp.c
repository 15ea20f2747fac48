/*
 * seccomp.c: the table as a program. libseccomp knows the calls' numbers and is the oracle of the test; the program
 * is made here, since neighbours with one answer are one range here, and a rule each there: 510 instructions become
 * some 200, and every process pays for them at its start (the kernel checks, compiles and tries them out: 0.20 ms
 * against 0.07).
 */
#include "seccomp.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	NUMBERS = 1024,         /* above what any architecture of ours has */
	X32_CALLS = 0x40000000, /* __X32_SYSCALL_BIT: x32 shares the audit architecture of x86-64 */
	LONGEST_JUMP = UINT8_MAX,
};

#define ROW_ALLOW SECCOMP_RET_ALLOW
#define ROW_EPERM (SECCOMP_RET_ERRNO | EPERM)
#define ROW_ENOSYS (SECCOMP_RET_ERRNO | ENOSYS)
#define ROW_NOTHING SECCOMP_RET_ERRNO /* of 0: success */

struct call_row {
	const char *name;
	uint32_t answer;
};

static const struct call_row rows[] = {
#define CALL(name, action) {#name, ROW_##action},
#include "seccomp_table.def"
#undef CALL
};

/* All calls from FIRST up to the next range's get ANSWER. */
struct range {
	uint32_t first;
	uint32_t answer;
};

struct program {
	struct sock_filter code[SECCOMP_INSTRUCTIONS];
	size_t length;
};


static size_t make_ranges(struct range ranges[NUMBERS])
{
	static uint32_t answers[NUMBERS];
	for (size_t i = 0; i < NUMBERS; i++)
		answers[i] = ROW_ENOSYS;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		int number = seccomp_syscall_resolve_name(rows[i].name);
		/* Negative: this architecture, or this libseccomp, has no such call. */
		if (number >= 0 && number < NUMBERS)
			answers[number] = rows[i].answer;
	}
	size_t count = 0;
	for (uint32_t i = 0; i < NUMBERS; i++)
		if (i == 0 || answers[i] != answers[i - 1])
			ranges[count++] = (struct range){i, answers[i]};
	return count;
}

static void add(struct program *program, struct sock_filter instruction)
{
	assert(program->length < SECCOMP_INSTRUCTIONS);
	program->code[program->length++] = instruction;
}

/* A binary search: each inner node jumps over its left half, each leaf returns. */
static void add_search(struct program *program, const struct range *ranges, size_t count)
{
	if (count == 1) {
		add(program, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, ranges[0].answer));
		return;
	}
	size_t half = count / 2;
	size_t over = 2 * half - 1; /* instructions of the left half */
	assert(over <= LONGEST_JUMP);
	add(program, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, ranges[half].first, (uint8_t)over, 0));
	add_search(program, ranges, half);
	add_search(program, ranges + half, count - half);
}

/* A foreign architecture's numbers mean other calls, so nothing of it may be looked up here. -1 is a call that a
 * tracer has cancelled. */
static void add_architecture(struct program *program)
{
	const struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, seccomp_arch_native(), 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, X32_CALLS, 0, 2),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, UINT32_MAX, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	};
	for (size_t i = 0; i < sizeof code / sizeof code[0]; i++)
		add(program, code[i]);
}

static const struct {
	enum seccomp_program of_init, of_users;
} profiles[PROFILES] = {
	[PROFILE_DEFAULT] = {SECCOMP_PROGRAM_DEFAULT, SECCOMP_PROGRAM_DEFAULT},
	[PROFILE_COMPUTE] = {SECCOMP_PROGRAM_DEFAULT, SECCOMP_PROGRAM_COMPUTE},
	[PROFILE_BUILD] = {SECCOMP_PROGRAM_BUILD, SECCOMP_PROGRAM_BUILD},
};

enum seccomp_program seccomp_program_of_init(enum profile profile)
{
	return profiles[profile].of_init;
}

enum seccomp_program seccomp_program_of_users(enum profile profile)
{
	return profiles[profile].of_users;
}

/* The table, or what is left to those on top of it: everything. */
static void add_rest(struct program *program, enum seccomp_program which)
{
	static struct range ranges[NUMBERS];
	if (which == SECCOMP_PROGRAM_COMPUTE)
		add(program, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
	else
		add_search(program, ranges, make_ranges(ranges));
}

size_t seccomp_build(struct sock_filter code[SECCOMP_INSTRUCTIONS], enum seccomp_program which)
{
	static struct program program;
	program.length = 0;
	add_architecture(&program);
	program.length += seccomp_guard_compile(program.code + program.length, which);
	add_rest(&program, which);
	for (size_t i = 0; i < program.length; i++)
		code[i] = program.code[i];
	return program.length;
}

static const int seals = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;

int seccomp_compile(enum seccomp_program program, struct error *err)
{
	struct sock_filter code[SECCOMP_INSTRUCTIONS];
	size_t bytes = seccomp_build(code, program) * sizeof code[0];
	int fd = memfd_create("seccomp", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0)
		return error_set(err, errno, "memfd_create");
	if (write(fd, code, bytes) == (ssize_t)bytes && fcntl(fd, F_ADD_SEALS, seals) == 0)
		return fd;
	error_set(err, errno, "write and seal a seccomp program");
	close(fd);
	return -1;
}

int seccomp_load_fd(int fd, struct error *err)
{
	struct sock_filter code[SECCOMP_INSTRUCTIONS];
	ssize_t bytes = pread(fd, code, sizeof code, 0);
	if (bytes <= 0)
		return error_set(err, errno, "read a seccomp program");
	struct sock_fprog fprog = {.len = (unsigned short)((size_t)bytes / sizeof code[0]), .filter = code};
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &fprog) < 0)
		return error_set(err, errno, "load a seccomp program");
	return 0;
}

bool seccomp_can_listen(void)
{
	struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	struct sock_fprog fprog = {.len = 1, .filter = &allow};
	int listener = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &fprog);
	if (listener >= 0)
		close(listener);
	return listener >= 0;
}
