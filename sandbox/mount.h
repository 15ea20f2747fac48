/*
 * mount.h: the mount interface of Linux 5.12 and later (fsopen(2), open_tree(2), mount_setattr(2)), with errors told.
 * Every descriptor returned is close-on-exec and the caller's. Attributes are MOUNT_ATTR_… of mount_setattr(2).
 */
#ifndef SANDBAR_MOUNT_H
#define SANDBAR_MOUNT_H

#include "error.h"

#include <stdbool.h>
#include <stdint.h>

/* One option of a new file system; value NULL = a flag. The last row of an array has key NULL. */
struct mount_option {
	const char *key;
	const char *value;
};

/* A new instance of TYPE, not attached anywhere. */
int mount_create(const char *type, const struct mount_option *options, uint64_t attributes, struct error *err);

/* A copy of the mount (RECURSIVE: tree) that PATH under DIRFD lies in, from PATH on; not attached anywhere. */
int mount_clone(int dirfd, const char *path, bool recursive, struct error *err);

/* Add ATTRIBUTES to a mount that is not attached anywhere (RECURSIVE: and to those below it). */
int mount_restrict(int mount_fd, uint64_t attributes, bool recursive, struct error *err);

/* Attach it at PATH under DIRFD. MOUNT_FD stays open and is then the mount's root. */
int mount_attach(int mount_fd, int dirfd, const char *path, struct error *err);

/* Clone, restrict and attach: a bind mount of FROM on TO, both under DIRFD. */
int mount_bind(int dirfd, const char *from, const char *to, bool recursive, uint64_t attributes, struct error *err);

#endif
