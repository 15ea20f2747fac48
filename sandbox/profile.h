/*
 * profile.h: which system calls a sandbox's processes may make, as a name. What each refuses is in seccomp_table.def and
 * seccomp_guard.def, and listed in tests/unit/sandbox/seccomp.golden.
 */
#ifndef SANDBAR_PROFILE_H
#define SANDBAR_PROFILE_H

/* PROFILE(NAME, "name", what it is for). */
/* clang-format off */
#define PROFILE_TABLE(PROFILE)                                                                      \
	PROFILE(DEFAULT, "default", "programs of every kind")                                           \
	PROFILE(COMPUTE, "compute", "one program with its threads: no other process, no network, no ptrace") \
	PROFILE(BUILD, "build", "compilers and package builds: no network, addresses need not be random")
/* clang-format on */

enum profile {
#define PROFILE(name, text, summary) PROFILE_##name,
	PROFILE_TABLE(PROFILE)
#undef PROFILE
		PROFILES
};

/* "default", or NULL if PROFILE is out of range. */
const char *profile_name(enum profile profile);
/* All names, for who asked for one that there is not: " default compute build". */
#define PROFILE_NAMED(name, text, summary) " " text
#define PROFILE_NAMES PROFILE_TABLE(PROFILE_NAMED)

/* The profile called NAME, or -1. */
int profile_find(const char *name);

#endif
