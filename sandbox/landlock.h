/*
 * landlock.h: what may be opened for what, by file hierarchy, whatever the mounts and modes say. The source is the kernel's
 * Documentation/userspace-api/landlock.rst.
 *
 * Init puts the table of landlock_inside.c on itself, before it has a child: its children are born under it and pay
 * nothing at their start. On ABI 6 (Linux 6.12) and later Landlock also ends at who is restricted what an abstract Unix
 * socket or a signal can reach.
 */
#ifndef SANDBAR_LANDLOCK_H
#define SANDBAR_LANDLOCK_H

#include <linux/landlock.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Below it renaming and linking between directories would fail with EXDEV: then the layer is off. */
enum {
	LANDLOCK_ABI_LEAST = 2,
	LANDLOCK_ABI_TRUNCATE = 3,
	LANDLOCK_ABI_TCP = 4,
	LANDLOCK_ABI_IOCTL = 5,
	LANDLOCK_ABI_SCOPES = 6
};

/* Linux's own values, for headers that are older than the kernel. */
#ifndef LANDLOCK_ACCESS_FS_TRUNCATE
#define LANDLOCK_ACCESS_FS_TRUNCATE (1ULL << 14)
#endif
#ifndef LANDLOCK_ACCESS_FS_IOCTL_DEV
#define LANDLOCK_ACCESS_FS_IOCTL_DEV (1ULL << 15)
#endif

/* What tables name rights by. Making device nodes is nobody's. */
#define LANDLOCK_FS(right) LANDLOCK_ACCESS_FS_##right
#define LANDLOCK_LIST LANDLOCK_FS(READ_DIR)
#define LANDLOCK_READ (LANDLOCK_LIST | LANDLOCK_FS(READ_FILE))
#define LANDLOCK_RUN (LANDLOCK_READ | LANDLOCK_FS(EXECUTE))
#define LANDLOCK_EDIT (LANDLOCK_FS(READ_FILE) | LANDLOCK_FS(WRITE_FILE) | LANDLOCK_FS(TRUNCATE))
#define LANDLOCK_DEVICE (LANDLOCK_EDIT | LANDLOCK_FS(IOCTL_DEV))
#define LANDLOCK_CHANGE                                                                                           \
	(LANDLOCK_READ | LANDLOCK_EDIT | LANDLOCK_FS(REMOVE_DIR) | LANDLOCK_FS(REMOVE_FILE) | LANDLOCK_FS(MAKE_DIR) | \
	 LANDLOCK_FS(MAKE_REG) | LANDLOCK_FS(MAKE_SOCK) | LANDLOCK_FS(MAKE_FIFO) | LANDLOCK_FS(MAKE_SYM) |            \
	 LANDLOCK_FS(REFER))
#define LANDLOCK_OWN (LANDLOCK_CHANGE | LANDLOCK_FS(EXECUTE))

/* RIGHTS hold for all that is below PATH, or below the directory FD where PATH is NULL, together with other rules'. What
 * does not exist, or is a symbolic link, is passed over. */
struct landlock_rule {
	const char *path;
	int fd;
	uint64_t rights;
};

/* The kernel's ABI, or 0 where it has none, or one below LANDLOCK_ABI_LEAST. */
int landlock_abi(void);

/* Allow this thread, and all that it starts, no more than COUNT RULES say, of files; with NO_TCP, neither to bind TCP
 * ports nor to connect. no_new_privs must be on. Returns the ABI, 0 (nothing was done: landlock_abi() is 0), or -1 with
 * errno. */
int landlock_restrict(const struct landlock_rule *rules, size_t count, bool no_tcp);

/* What holds inside of a sandbox. What lies below the directory PROC may be read, too. Returns as landlock_restrict(). */
int landlock_put_on(int proc);

#endif
