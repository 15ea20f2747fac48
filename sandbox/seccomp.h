/*
 * seccomp.h: the system calls that run inside, as a program that is compiled once.
 *
 * It is mostly one for init and for user processes: filters stack over a fork, so init's must allow all that a user's
 * does, and what init needs besides is harmless to who has no capabilities. Thus init loads it, and its children need not
 * (0.07 ms a start). Where a profile takes from users what init needs, they load a second, small one on top.
 *
 * The program is a sealed memfd that holds an array of struct sock_filter: the check of the architecture (a foreign one
 * kills the process), seccomp_guard.c's checks of arguments, then the table of seccomp_table.def.
 */
#ifndef SANDBAR_SECCOMP_H
#define SANDBAR_SECCOMP_H

#include "error.h"
#include "profile.h"

#include <linux/filter.h>
#include <stdbool.h>
#include <stddef.h>

/* DEFAULT and BUILD are whole, and init's; COMPUTE is only what users get on top of DEFAULT. */
enum seccomp_program { SECCOMP_PROGRAM_DEFAULT, SECCOMP_PROGRAM_BUILD, SECCOMP_PROGRAM_COMPUTE, SECCOMP_PROGRAMS };

/* What PROFILE puts on init, and on users; one and the same where they need none of their own. */
enum seccomp_program seccomp_program_of_init(enum profile profile);
enum seccomp_program seccomp_program_of_users(enum profile profile);

enum { SECCOMP_GUARD_INSTRUCTIONS = 512 }; /* the most that the guards have */
enum { SECCOMP_INSTRUCTIONS = 1024 };      /* the most that a program has */

/* A new sealed memfd (close-on-exec), or -1. */
int seccomp_compile(enum seccomp_program program, struct error *err);

/* The program's instructions. Returns their number. */
size_t seccomp_build(struct sock_filter code[SECCOMP_INSTRUCTIONS], enum seccomp_program program);

/* The guards' instructions (at most SECCOMP_GUARD_INSTRUCTIONS), which begin and end with the call's number in the accumulator, and end by
 * falling through. Returns their number. */
size_t seccomp_guard_compile(struct sock_filter *code, enum seccomp_program program);
/* Whether PROGRAM looks at the arguments of CALL. */
bool seccomp_is_guarded(int call, enum seccomp_program program);

/* Load the program behind FD into this thread (no_new_privs must be set). */
int seccomp_load_fd(int fd, struct error *err);

/* Whether refused calls could be handed to a listener. Puts one more program, which allows everything, on this thread. */
bool seccomp_can_listen(void);

#endif
