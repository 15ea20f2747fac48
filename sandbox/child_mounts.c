/*
 * child_mounts.c: the sandbox's own mounts. All is done with descriptors and paths of the new root; the host's paths
 * are never resolved here.
 */
#include "child.h"
#include "mount.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

struct place {
	const char *name; /* on the tmpfs */
	const char *path;
	mode_t mode;
	uint64_t attributes;
};

/* All on one tmpfs, so that one limit holds for them together. */
static const struct place places[] = {
	{"work", "/work", 0755, 0},        {"tmp", "/tmp", 01777, 0},
	{"var-tmp", "/var/tmp", 01777, 0}, {"shm", "/dev/shm", 01777, MOUNT_ATTR_NOEXEC},
	{"run", "/run", 0755, 0},
};

enum { PLACES = sizeof places / sizeof places[0], TTY_GROUP = 5 /* as in the tree's etc/group */ };

/* The clone is laid over "/" (no other path of the host need exist or be passable for this user), the two change
 * places, and the old root, then on top of the new one, goes. */
int child_enter_root(struct child_setup *setup, struct error *err)
{
	if (mount_attach(setup->tree, AT_FDCWD, "/", err) < 0)
		return -1;
	if (fchdir(setup->tree) < 0)
		return error_set(err, errno, "enter the new root");
	if (syscall(SYS_pivot_root, ".", ".") < 0)
		return error_set(err, errno, "pivot_root");
	if (umount2(".", MNT_DETACH) < 0)
		return error_set(err, errno, "unmount the old root");
	if (chdir("/") < 0)
		return error_set(err, errno, "enter the new root");
	return 0;
}

/* POSIX queues work without it, but Landlock knows files by where they are: its table names this place. */
int child_mount_queues(struct child_setup *setup, struct error *err)
{
	(void)setup;
	const struct mount_option options[] = {{"source", "mqueue"}, {NULL, NULL}};
	struct error made = {0};
	int fd = mount_create("mqueue", options, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC, &made);
	if (fd < 0 && made.errnum == ENODEV)
		return 0; /* a kernel without POSIX queues */
	if (fd < 0) {
		*err = made;
		return -1;
	}
	int result = mount_attach(fd, AT_FDCWD, "/dev/mqueue", err);
	close(fd);
	return result;
}

/* The kernel gives the directory and ptmx to 0 inside, whoever that is. Their owner could shut terminals, and remove them
 * behind the kernel's back. */
static int give_to_init(const struct child_setup *setup, int terminals, struct error *err)
{
	static const char *const names[] = {"", "ptmx"};
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (fchownat(terminals, names[i], setup->init, setup->init, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW) < 0)
			return error_set(err, errno, "chown `/dev/pts/%s`", names[i]);
	return 0;
}

/* Without max= one sandbox could take all terminals of the host (kernel.pty.max, 4096). */
int child_mount_terminals(struct child_setup *setup, struct error *err)
{
	char most[16], uid[16], gid[16];
	bool has_ranges = setup->host->has_ranges;
	snprintf(most, sizeof most, "%" PRIu32, setup->limits->ptys);
	snprintf(uid, sizeof uid, "%" PRIu32, setup->user);
	snprintf(gid, sizeof gid, "%" PRIu32, has_ranges ? TTY_GROUP : setup->user);
	const struct mount_option options[] = {
		{"source", "devpts"}, {"newinstance", NULL}, {"ptmxmode", "0666"}, {"mode", "0620"},
		{"uid", uid},         {"gid", gid},          {"max", most},        {NULL, NULL},
	};
	int fd = mount_create("devpts", options, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC, err);
	if (fd < 0)
		return -1;
	int result = has_ranges ? give_to_init(setup, fd, err) : 0;
	if (result == 0)
		result = mount_attach(fd, AT_FDCWD, "/dev/pts", err);
	close(fd);
	return result;
}

static int make_places(int tmpfs, uint32_t user, struct error *err)
{
	for (int i = 0; i < PLACES; i++) {
		if (mkdirat(tmpfs, places[i].name, places[i].mode) < 0)
			return error_set(err, errno, "mkdir `%s` on the workspace", places[i].name);
		if (fchownat(tmpfs, places[i].name, user, user, AT_SYMLINK_NOFOLLOW) < 0)
			return error_set(err, errno, "chown `%s` on the workspace", places[i].name);
	}
	return 0;
}

/* Linux before 6.15 clones only from attached mounts: the tmpfs stands on /run until its parts are taken from it. */
static int attach_places(int tmpfs, struct error *err)
{
	int parts[PLACES];
	int result = mount_attach(tmpfs, AT_FDCWD, "/run", err);
	for (int i = 0; i < PLACES; i++) {
		parts[i] = result < 0 ? -1 : mount_clone(tmpfs, places[i].name, false, err);
		if (parts[i] < 0 || (places[i].attributes && mount_restrict(parts[i], places[i].attributes, false, err) < 0))
			result = -1;
	}
	if (result == 0 && umount2("/run", MNT_DETACH) < 0)
		result = error_set(err, errno, "unmount `/run`");
	for (int i = 0; i < PLACES; i++) {
		if (result == 0)
			result = mount_attach(parts[i], AT_FDCWD, places[i].path, err);
		if (parts[i] >= 0)
			close(parts[i]);
	}
	return result;
}

int child_mount_workspace(struct child_setup *setup, struct error *err)
{
	char bytes[24], inodes[24];
	snprintf(bytes, sizeof bytes, "%" PRIu64, setup->limits->workspace);
	snprintf(inodes, sizeof inodes, "%" PRIu64, (uint64_t)setup->limits->inodes + PLACES + 1);
	const struct mount_option options[] = {
		{"source", "workspace"}, {"size", bytes}, {"nr_inodes", inodes}, {"mode", "0755"}, {NULL, NULL}};
	int tmpfs = mount_create("tmpfs", options, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV, err);
	if (tmpfs < 0)
		return -1;
	mode_t mask = umask(0);
	int result = make_places(tmpfs, setup->user, err);
	umask(mask);
	if (result == 0)
		result = attach_places(tmpfs, err);
	close(tmpfs);
	return result;
}
