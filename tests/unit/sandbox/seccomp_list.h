/*
 * seccomp_list.h: what the seccomp programs do, as text for a reviewer: every call and its answer by profile, the rows
 * whose arguments decide, and the instructions. The committed copy is seccomp.golden; `seccomp-list` makes it anew.
 */
#ifndef SANDBAR_TEST_SECCOMP_LIST_H
#define SANDBAR_TEST_SECCOMP_LIST_H

#include <stdio.h>

void seccomp_list_write(FILE *out);

#endif
