/*
 * landlock.h: what may be opened for what, by file hierarchy, under the mounts: a second opinion in case that a mount
 * says more than it should. The table is in landlock.c; the source is the kernel's Documentation/userspace-api/landlock.rst.
 *
 * Init puts it on itself, before it has a child: its children are born under it and pay nothing at their start. On ABI 6
 * (Linux 6.12) and later it also ends at the sandbox what an abstract Unix socket or a signal can reach.
 */
#ifndef SANDBAR_LANDLOCK_H
#define SANDBAR_LANDLOCK_H

/* Below it renaming and linking between directories would fail with EXDEV: then the layer is off. */
enum { LANDLOCK_ABI_LEAST = 2, LANDLOCK_ABI_IOCTL = 5, LANDLOCK_ABI_SCOPES = 6 };

/* The kernel's ABI, or 0 where it has none, or one below LANDLOCK_ABI_LEAST. */
int landlock_abi(void);

/* Put it on, for this thread and all that it starts; no_new_privs must be on. What lies below the directory PROC may be
 * read, too. Returns the ABI, 0 (nothing was done:
 * landlock_abi() is 0), or -1 with errno. */
int landlock_put_on(int proc);

#endif
