/*
 * inner_user.h: who a sandbox's processes are, inside. To be 0 there is a name alone: whoever it is has no capability, and
 * filter, mounts and limits are the same. On the host it is an id without any rights either way.
 */
#ifndef SANDBAR_INNER_USER_H
#define SANDBAR_INNER_USER_H

#include <stdint.h>

/* INNER_USER(NAME, "name", user and group id); the names are those of the tree's etc/passwd (root_tree.c). */
/* clang-format off */
#define INNER_USER_TABLE(INNER_USER)  \
	INNER_USER(PLAIN, "user", 1000)   \
	INNER_USER(ROOT, "root", 0)
/* clang-format on */

enum inner_user {
#define INNER_USER(name, text, id) INNER_USER_##name,
	INNER_USER_TABLE(INNER_USER)
#undef INNER_USER
		INNER_USERS
};

/* "user", or NULL if USER is out of range. */
const char *inner_user_name(enum inner_user user);
/* All names, for who asked for one that there is not: " user root". */
#define INNER_USER_NAMED(name, text, id) " " text
#define INNER_USER_NAMES INNER_USER_TABLE(INNER_USER_NAMED)

/* Both its user id and its group id; USER is in range. */
uint32_t inner_user_id(enum inner_user user);

/* The one called NAME, or -1. */
int inner_user_find(const char *name);

#endif
