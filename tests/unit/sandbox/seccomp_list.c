#include "seccomp_list.h"
#include "bpf.h"
#include "sandbox/call_name.h"
#include "sandbox/seccomp.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <string.h>

enum { NUMBERS = 480 }; /* above the newest call that libseccomp 2.5 knows */

struct listed {
	struct sock_filter code[SECCOMP_INSTRUCTIONS];
	size_t length;
};

static struct listed programs[SECCOMP_PROGRAMS];
static const char *const program_names[] = {"default", "build", "compute (on top of default)"};

static const char *const guards[] = {
#define GUARD(programs, call, errnum, ...) #call " -> " #errnum " if " #__VA_ARGS__ "   [" #programs "]",
#include "sandbox/seccomp_guard.def"
#undef GUARD
};

static void answer_text(uint32_t answer, char text[24])
{
	uint32_t action = answer & SECCOMP_RET_ACTION_FULL;
	if (action == SECCOMP_RET_ALLOW)
		strcpy(text, "allow");
	else if (action == SECCOMP_RET_KILL_PROCESS)
		strcpy(text, "KILL");
	else
		snprintf(text, 24, "%s", strerrorname_np((int)(answer & SECCOMP_RET_DATA)));
}

static uint32_t answer_of(enum seccomp_program program, int number)
{
	const struct seccomp_data data = {.arch = seccomp_arch_native(), .nr = number};
	return bpf_answer(programs[program].code, programs[program].length, &data);
}

/* Filters stack: the one with the lower action wins, as the kernel compares them (signed). */
static uint32_t answer_in(enum profile profile, int number)
{
	uint32_t of_init = answer_of(seccomp_program_of_init(profile), number);
	uint32_t of_users = answer_of(seccomp_program_of_users(profile), number);
	return (int32_t)(of_users & SECCOMP_RET_ACTION_FULL) < (int32_t)(of_init & SECCOMP_RET_ACTION_FULL) ? of_users
	                                                                                                    : of_init;
}

static void write_calls(FILE *out)
{
	fprintf(out, "%-28s", "# call, all arguments 0");
	for (int profile = 0; profile < PROFILES; profile++)
		fprintf(out, " %s%s", profile_name((enum profile)profile), profile + 1 < PROFILES ? " " : "\n");
	for (int number = 0; number < NUMBERS; number++) {
		char name[CALL_NAME_BYTES];
		call_name(number, name);
		if (name[0] >= '0' && name[0] <= '9')
			continue;
		fprintf(out, "%-28s", name);
		bool is_guarded = false;
		for (int profile = 0; profile < PROFILES; profile++) {
			char text[24];
			answer_text(answer_in((enum profile)profile, number), text);
			fprintf(out, " %-*s", profile + 1 < PROFILES ? 8 : 0, text);
			is_guarded = is_guarded || seccomp_is_guarded(number, seccomp_program_of_init((enum profile)profile)) ||
			             seccomp_is_guarded(number, seccomp_program_of_users((enum profile)profile));
		}
		fputs(is_guarded ? " *\n" : "\n", out);
	}
	fputs("# Every number that stands not here is ENOSYS; every other architecture, and x32, is KILL.\n", out);
}

/* Relative, so that a new row changes only the lines that it is about. */
static void write_jump(FILE *out, const struct sock_filter *instruction)
{
	static const char *const names[] = {"==", ">", ">=", "&"};
	static const uint16_t codes[] = {BPF_JEQ, BPF_JGT, BPF_JGE, BPF_JSET};
	if (BPF_OP(instruction->code) == BPF_JA)
		fprintf(out, "skip %" PRIu32 "\n", instruction->k);
	for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++)
		if (BPF_OP(instruction->code) == codes[i])
			fprintf(out, "if %s 0x%" PRIx32 " skip %u else skip %u\n", names[i], instruction->k, instruction->jt,
			        instruction->jf);
}

static void write_instruction(FILE *out, const struct sock_filter *instruction)
{
	char text[24];
	fputs("    ", out);
	switch (BPF_CLASS(instruction->code)) {
	case BPF_LD:
		fprintf(out, "load %" PRIu32 "\n", instruction->k);
		break;
	case BPF_ALU:
		fprintf(out, "and 0x%" PRIx32 "\n", instruction->k);
		break;
	case BPF_JMP:
		write_jump(out, instruction);
		break;
	default:
		answer_text(instruction->k, text);
		fprintf(out, "%s\n", text);
	}
}

void seccomp_list_write(FILE *out)
{
	fputs("# Made by seccomp-list; x86-64.\n\n", out);
	for (int i = 0; i < SECCOMP_PROGRAMS; i++)
		programs[i].length = seccomp_build(programs[i].code, (enum seccomp_program)i);
	write_calls(out);
	fputs("\n# *: the arguments decide\n", out);
	for (size_t i = 0; i < sizeof guards / sizeof guards[0]; i++)
		fprintf(out, "%s\n", guards[i]);
	for (int i = 0; i < SECCOMP_PROGRAMS; i++) {
		fprintf(out, "\n# %s: %zu instructions (load 0: the call, 4: the architecture, 16 + 8n: argument n)\n",
		        program_names[i], programs[i].length);
		for (size_t at = 0; at < programs[i].length; at++)
			write_instruction(out, &programs[i].code[at]);
	}
}
