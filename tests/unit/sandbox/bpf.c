#include "bpf.h"

#include <stdbool.h>
#include <string.h>

static bool jumps(const struct sock_filter *instruction, uint32_t accumulator)
{
	switch (BPF_OP(instruction->code)) {
	case BPF_JEQ:
		return accumulator == instruction->k;
	case BPF_JGE:
		return accumulator >= instruction->k;
	case BPF_JGT:
		return accumulator > instruction->k;
	default:
		return (accumulator & instruction->k) != 0; /* BPF_JSET */
	}
}

uint32_t bpf_answer(const struct sock_filter *code, size_t length, const struct seccomp_data *data)
{
	uint32_t accumulator = 0;
	for (size_t at = 0; at < length; at++) {
		const struct sock_filter *instruction = &code[at];
		switch (BPF_CLASS(instruction->code)) {
		case BPF_LD:
			memcpy(&accumulator, (const char *)data + instruction->k, sizeof accumulator);
			break;
		case BPF_ALU:
			accumulator &= instruction->k;
			break;
		case BPF_JMP:
			if (BPF_OP(instruction->code) == BPF_JA)
				at += instruction->k;
			else
				at += jumps(instruction, accumulator) ? instruction->jt : instruction->jf;
			break;
		case BPF_RET:
			return instruction->k;
		default:
			return UINT32_MAX;
		}
	}
	return UINT32_MAX;
}
