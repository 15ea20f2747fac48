/*
 * bpf.h: what a seccomp program answers, computed as the kernel does (only the instructions that such programs have).
 */
#ifndef SANDBAR_TEST_BPF_H
#define SANDBAR_TEST_BPF_H

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>

/* SECCOMP_RET_…; UINT32_MAX where the program is wrong. */
uint32_t bpf_answer(const struct sock_filter *code, size_t length, const struct seccomp_data *data);

#endif
