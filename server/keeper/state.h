/*
 * state.h: the state directory: made, locked against a second server, and what the keeper keeps in it.
 *
 *   lock          held (flock) as long as the server lives; holds its pid
 *   signing.key   made by sandbar-keys at the first start, with owner.token
 *   sessions/     the gateway's: journals
 *   tokens/       the gateway's: which tokens were made and revoked
 *   root/         where the golden tree is mounted, in the keeper's own mount namespace
 *   address       "http://127.0.0.1:7433\n" while the server serves
 */
#ifndef SANDBAR_STATE_H
#define SANDBAR_STATE_H

#include "sandbox/error.h"

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

struct state {
	char path[PATH_MAX]; /* absolute */
	int directory, lock;
};

/* Where it is when nobody says: /var/lib/sandbar as root, else below XDG_STATE_HOME or ~/.local/state. */
int state_standard_path(char path[PATH_MAX], struct error *err);

/* Make PATH (0700, with its parents) and lock it. -1 on error; *HOLDER is then the pid of a server that holds it, or 0. */
int state_open(struct state *state, const char *path, pid_t *holder, struct error *err);
void state_close(struct state *state);

/* A name that is this directory's own, for cgroups: "sandbar-" and 8 hexadecimal digits. */
void state_name(const struct state *state, char name[32]);

/* Make and open the directory NAME, owned by UID and GID; returns the descriptor. */
int state_open_for(const struct state *state, const char *name, uid_t uid, gid_t gid, struct error *err);
/* PATH becomes that of root/, which exists. */
int state_make_root(const struct state *state, char path[PATH_MAX], struct error *err);
int state_open_key(const struct state *state, struct error *err);

/* Replace `address` by "URL\n" (0644), atomically; remove it. */
int state_write_address(const struct state *state, const char *url, struct error *err);
void state_remove_address(const struct state *state);

#endif
