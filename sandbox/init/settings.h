/*
 * settings.h: what holds for all processes of one sandbox, known from boot on. A value type.
 */
#ifndef SANDBAR_INIT_SETTINGS_H
#define SANDBAR_INIT_SETTINGS_H

#include <linux/filter.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct settings {
	uid_t uid; /* of the user's processes, inside */
	gid_t gid;
	uint64_t open_files;           /* RLIMIT_NOFILE of each; 0 = no limit */
	uint64_t file_size;            /* RLIMIT_FSIZE of each, in bytes; 0 = no limit */
	bool resets_oom;               /* init's oom_score_adj is lowered, and must not be inherited */
	uint64_t own_cgroup;           /* tree_cgroup_key() of init: never one of a tree */
	struct sock_fprog user_filter; /* .len 0 = none */
	int listener;                  /* from which refused system calls come (denial.h); 0 = none */
	const char *ptmx;              /* the terminals' multiplexer */
};

#endif
