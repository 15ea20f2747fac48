/*
 * id_range.h: which user and group ids of the host a sandbox uses.
 *
 * As root each sandbox gets a block of 65,536 ids, mapped to 0…65535 inside: 4,096 blocks from 0x70000000, far above
 * what /etc/subuid hands out (blocks that overlap an entry of /etc/subuid or /etc/subgid are left out all the same).
 * The first and the last are never given to a sandbox: the gateway has the first id of the last one, where it has no user
 * of its own.
 */
#ifndef SANDBAR_ID_RANGE_H
#define SANDBAR_ID_RANGE_H

#include "error.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define ID_RANGE_BASE 0x70000000u

enum { ID_BLOCK = 65536, ID_BLOCKS = 4096, ID_BLOCKS_GIVEN = ID_BLOCKS - 2 };

#define ID_OF_GATEWAY (ID_RANGE_BASE + (ID_BLOCKS - 1u) * ID_BLOCK)

struct id_range {
	uint64_t taken[ID_BLOCKS / 64];
	unsigned next; /* where to look first, so that a block rests before it is used again */
};

/* Begins at a random block, so that two servers on one host seldom meet. */
void id_range_init(struct id_range *range);

/* Mark the blocks that TEXT, in the form of /etc/subuid (subuid(5)), overlaps as taken. */
void id_range_exclude(struct id_range *range, const char *text);

int id_range_take(struct id_range *range, struct error *err); /* a block, or -1 */
void id_range_give(struct id_range *range, int block);

/* Whether TEXT, in the form of /proc/self/uid_map (user_namespaces(7)), has all of the ids above. */
bool id_range_is_mapped(const char *text);

/* Write the maps of BLOCK for the process PID, whose user namespace is new. */
int id_range_map(pid_t pid, int block, struct error *err);

struct id_pair {
	uid_t uid;
	gid_t gid;
};

/* From within a new user namespace: the ids INSIDE stand for OUTSIDE of the namespace above, and no others exist. */
int id_single_map(struct id_pair inside, struct id_pair outside, struct error *err);

#endif
