/* Mounts and roots. What a mask hides is only hidden while nobody can unmount it. */
#include "attempt.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* <sys/mount.h> of Debian 12 cannot stand beside <linux/mount.h>. */
enum {
	OLD_RDONLY = 1,
	OLD_REMOUNT = 32,
	OLD_BIND = 4096,
	OLD_MOVE = 8192,
	OLD_REC = 16384,
	OLD_SHARED = 1 << 20,
	DETACH = 2
};
enum { NR_statmount = 457, NR_listmount = 458, NR_open_tree_attr = 467 };

#define TEXT(text) (unsigned long)(text)
#define NOWHERE (unsigned long)-1
#define HERE (unsigned long)AT_FDCWD

/* The classic way out: a root below oneself, and then up. */
static int climb_out(const struct probe *probe)
{
	(void)probe;
	if (mkdir("/tmp/below", 0700) < 0 && errno != EEXIST)
		return errno;
	if (chroot("/tmp/below") < 0)
		return errno;
	return outcome_of(chdir("../../../.."));
}

/* clang-format off */
#define MOUNT(name, attempt, source, target, type, flags) \
	CALL(name, attempt, "seccomp", E(EPERM), PROBE_GRAVE, SYS_mount, TEXT(source), TEXT(target), TEXT(type), flags)
#define UMOUNT(name, target) \
	CALL(name, "unmount " target, "seccomp", E(EPERM), PROBE_GRAVE, SYS_umount2, TEXT(target), DETACH)
#define NEW(name, attempt, number, ...) CALL(name, attempt, "seccomp", E(EPERM), PROBE_GRAVE, number, __VA_ARGS__)

static struct mount_attr writable = {.attr_clr = MOUNT_ATTR_RDONLY};

const struct probe PROBES_mounts[] = {
	MOUNT("mount-tmpfs", "mount a tmpfs on /tmp", "x", "/tmp", "tmpfs", 0),
	MOUNT("mount-proc", "mount a new proc, without masks", "x", "/tmp", "proc", 0),
	MOUNT("mount-sysfs", "mount sysfs", "x", "/tmp", "sysfs", 0),
	MOUNT("mount-cgroup", "mount cgroup (v1)", "x", "/tmp", "cgroup", 0),
	MOUNT("mount-cgroup2", "mount cgroup2", "x", "/tmp", "cgroup2", 0),
	MOUNT("mount-devpts", "mount devpts", "x", "/tmp", "devpts", 0),
	MOUNT("mount-overlay", "mount overlayfs over /usr", "x", "/usr", "overlay", 0),
	MOUNT("mount-fuse", "mount fuse", "x", "/tmp", "fuse", 0),
	MOUNT("mount-bpf", "mount bpffs", "x", "/tmp", "bpf", 0),
	MOUNT("bind-root", "bind / into /tmp", "/", "/tmp", "", OLD_BIND | OLD_REC),
	MOUNT("bind-over-passwd", "bind /dev/null over /etc/passwd", "/dev/null", "/etc/passwd", "", OLD_BIND),
	MOUNT("remount-usr", "remount /usr read-write", "", "/usr", "", OLD_REMOUNT | OLD_BIND),
	MOUNT("remount-root", "remount / read-write", "", "/", "", OLD_REMOUNT | OLD_BIND),
	MOUNT("remount-proc-sys", "remount /proc/sys read-write", "", "/proc/sys", "", OLD_REMOUNT | OLD_BIND),
	MOUNT("move-mount-old", "MS_MOVE /proc to /tmp", "/proc", "/tmp", "", OLD_MOVE),
	MOUNT("share-root", "make / shared, so that mounts propagate", "", "/", "", OLD_SHARED | OLD_REC),
	UMOUNT("unmount-mask", "/proc/kcore"), UMOUNT("unmount-proc-sys", "/proc/sys"), UMOUNT("unmount-usr", "/usr"),
	UMOUNT("unmount-root", "/"), UMOUNT("unmount-work", "/work"), UMOUNT("unmount-dev-null", "/dev/null"),
	NEW("fsopen-tmpfs", "fsopen tmpfs", SYS_fsopen, TEXT("tmpfs"), 0),
	NEW("fsopen-ext4", "fsopen ext4 (CVE-2022-0185's way in)", SYS_fsopen, TEXT("ext4"), 0),
	NEW("fsopen-proc", "fsopen proc", SYS_fsopen, TEXT("proc"), 0),
	NEW("fsconfig", "fsconfig with a long key", SYS_fsconfig, NOWHERE, FSCONFIG_SET_STRING, TEXT("0123456789abcdef0123456789abcdef0123456789abcdef"), TEXT("v"), 0),
	NEW("fsmount", "fsmount", SYS_fsmount, NOWHERE, 0, 0),
	NEW("fspick", "fspick /", SYS_fspick, HERE, TEXT("/"), 0),
	NEW("open-tree-clone", "open_tree(/, CLONE)", SYS_open_tree, HERE, TEXT("/"), OPEN_TREE_CLONE),
	NEW("open-tree", "open_tree(/)", SYS_open_tree, HERE, TEXT("/"), 0),
	NEW("move-mount", "move_mount /proc to /tmp", SYS_move_mount, HERE, TEXT("/proc"), HERE, TEXT("/tmp"), 0),
	NEW("mount-setattr", "mount_setattr: clear read-only of /usr", SYS_mount_setattr, HERE, TEXT("/usr"), 0, (unsigned long)(uintptr_t)&writable, sizeof writable),
	NEW("pivot-root", "pivot_root to /tmp", SYS_pivot_root, TEXT("/tmp"), TEXT("/tmp")),
	NEW("chroot", "chroot to /tmp", SYS_chroot, TEXT("/tmp")),
	RUN("chroot-and-climb", "chroot below, then up", "seccomp", E(EPERM), PROBE_GRAVE, climb_out),
	CALL("open-tree-attr", "open_tree_attr(/), Linux 6.15", "seccomp", E(ENOSYS), PROBE_GRAVE, NR_open_tree_attr, HERE, TEXT("/"), OPEN_TREE_CLONE, 0, 0),
	CALL("statmount", "statmount, Linux 6.8", "seccomp", E(ENOSYS), PROBE_SHOWN, NR_statmount, 0, 0, 0, 0),
	CALL("listmount", "listmount, Linux 6.8", "seccomp", E(ENOSYS), PROBE_SHOWN, NR_listmount, 0, 0, 0, 0),
};
/* clang-format on */
PROBE_TABLE_END(mounts)
