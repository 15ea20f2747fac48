/*
 * root_tree.c: a tmpfs skeleton, the host's /usr, and the device nodes, all read-only. It is built attached, in the
 * keeper's private mount namespace: move_mount(2) into a detached tree is EINVAL on Linux 6.1.
 *
 * Everything here is a row of a table: directories, files, links, devices, host directories.
 */
#include "root_tree.h"
#include "etc_copy.h"
#include "mount.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#define SEALED (MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV)

struct tree_file {
	const char *path;
	const char *text;
};

/* /run, /tmp, /var/tmp, /work and /dev/shm are places for the sandbox's own tmpfs (child_mounts.c). var/empty masks
 * directories of /proc. */
/* clang-format off */
static const char *const directories[] = {
	"dev",  "dev/mqueue", "dev/pts", "dev/shm", "etc", "home", "mnt", "opt",       "proc",    "root",
	"run",  "srv",     "tmp",     "usr", "var",  "work", "var/empty", "var/lib", "var/tmp",
};
/* clang-format on */

static const struct tree_file files[] = {
	/* root, since the users' processes may be him, in name. */
	{"etc/passwd", "root:x:0:0:root:/work:/bin/bash\n"
                   "user:x:1000:1000:user:/work:/bin/bash\n"
                   "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n"},
	{"etc/group", "root:x:0:\ntty:x:5:\nuser:x:1000:\nnogroup:x:65534:\n"},
	{"etc/hosts", "127.0.0.1\tlocalhost\n::1\tlocalhost ip6-localhost ip6-loopback\n"},
	{"etc/hostname", "sandbar\n"},
	{"etc/resolv.conf", "# There is no network.\n"},
	{"etc/nsswitch.conf", "passwd: files\ngroup: files\nshadow: files\nhosts: files dns\nnetworks: files\n"
                          "protocols: files\nservices: files\nethers: files\nrpc: files\n"},
};

/* clang-format off */
static const struct tree_file links[] = {
	{"etc/mtab", "/proc/self/mounts"}, {"var/run", "/run"},           {"dev/fd", "/proc/self/fd"},
	{"dev/ptmx", "pts/ptmx"},          {"dev/stdin", "/proc/self/fd/0"}, {"dev/stdout", "/proc/self/fd/1"},
	{"dev/stderr", "/proc/self/fd/2"},
};
/* clang-format on */

static const char *const devices[] = {"null", "zero", "full", "random", "urandom", "tty"};

/* Where /usr is merged these are links into it; elsewhere, directories of their own. */
static const char *const usr_parts[] = {"bin", "sbin", "lib", "lib32", "lib64", "libx32"};

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static int write_file(int root, const char *path, const char *text, struct error *err)
{
	int fd = openat(root, path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (fd < 0)
		return error_set(err, errno, "create `%s`", path);
	ssize_t length = (ssize_t)strlen(text);
	int result = write(fd, text, (size_t)length) == length ? 0 : error_set(err, errno, "write `%s`", path);
	close(fd);
	return result;
}

static int make_skeleton(int root, struct error *err)
{
	for (size_t i = 0; i < COUNT(directories); i++)
		if (mkdirat(root, directories[i], 0755) < 0)
			return error_set(err, errno, "mkdir `%s`", directories[i]);
	for (size_t i = 0; i < COUNT(files); i++)
		if (write_file(root, files[i].path, files[i].text, err) < 0)
			return -1;
	for (size_t i = 0; i < COUNT(links); i++)
		if (symlinkat(links[i].text, root, links[i].path) < 0)
			return error_set(err, errno, "symlink `%s`", links[i].path);
	return 0;
}

static int copy_host_etc(int root, struct error *err)
{
	int host = open("/etc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (host < 0)
		return error_set(err, errno, "open `/etc`");
	int etc = openat(root, "etc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int result = etc < 0 ? error_set(err, errno, "open the tree's etc") : etc_copy(host, etc, err);
	if (etc >= 0)
		close(etc);
	close(host);
	return result;
}

static int bind_host(int root, const char *host_path, const char *path, bool recursive, uint64_t attributes,
                     struct error *err)
{
	int fd = mount_clone(AT_FDCWD, host_path, recursive, err);
	if (fd < 0)
		return -1;
	int result = mount_restrict(fd, attributes, recursive, err);
	if (result == 0)
		result = mount_attach(fd, root, path, err);
	close(fd);
	return result;
}

static int add_devices(int root, struct error *err)
{
	for (size_t i = 0; i < COUNT(devices); i++) {
		char host[32], inside[32];
		snprintf(host, sizeof host, "/dev/%s", devices[i]);
		snprintf(inside, sizeof inside, "dev/%s", devices[i]);
		/* Read-only says nothing of writing to a device: it keeps its owner, mode and times. */
		uint64_t attributes = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC;
		if (write_file(root, inside, "", err) < 0 || bind_host(root, host, inside, false, attributes, err) < 0)
			return -1;
	}
	return 0;
}

static int add_usr_part(int root, const char *name, struct error *err)
{
	char host[16];
	snprintf(host, sizeof host, "/%s", name);
	struct stat st;
	if (lstat(host, &st) < 0)
		return 0;
	if (S_ISLNK(st.st_mode)) {
		char target[64];
		ssize_t n = readlink(host, target, sizeof target - 1);
		if (n < 0)
			return error_set(err, errno, "readlink `%s`", host);
		target[n] = '\0';
		return symlinkat(target, root, name) == 0 ? 0 : error_set(err, errno, "symlink `%s`", name);
	}
	if (mkdirat(root, name, 0755) < 0)
		return error_set(err, errno, "mkdir `%s`", name);
	return bind_host(root, host, name, true, SEALED, err);
}

static int add_usr(int root, struct error *err)
{
	if (bind_host(root, "/usr", "usr", true, SEALED, err) < 0)
		return -1;
	for (size_t i = 0; i < COUNT(usr_parts); i++)
		if (add_usr_part(root, usr_parts[i], err) < 0)
			return -1;
	return 0;
}

/* The skeleton's own mount, not what is mounted in it: that has its attributes, and /usr is to stay executable. */
static int seal_skeleton(int root, struct error *err)
{
	return mount_restrict(root, SEALED | MOUNT_ATTR_NOEXEC, false, err);
}

int root_tree_build(const char *staging, struct error *err)
{
	/* nr_inodes and size bound a copy of /etc that went wrong. */
	const struct mount_option options[] = {
		{"source", "sandbar"}, {"mode", "0755"}, {"size", "64m"}, {"nr_inodes", "16384"}, {NULL, NULL}};
	int root = mount_create("tmpfs", options, MOUNT_ATTR_NOSUID, err);
	if (root < 0)
		return -1;
	int result = mount_attach(root, AT_FDCWD, staging, err);
	if (result == 0) {
		mode_t mask = umask(022);
		if (make_skeleton(root, err) < 0 || copy_host_etc(root, err) < 0 || add_devices(root, err) < 0 ||
		    add_usr(root, err) < 0 || seal_skeleton(root, err) < 0) {
			root_tree_remove(staging);
			result = -1;
		}
		umask(mask);
	}
	close(root);
	return result < 0 ? error_prefix(err, "build the root tree") : 0;
}

int root_tree_clone(const char *staging, struct error *err)
{
	return mount_clone(AT_FDCWD, staging, true, err);
}

void root_tree_remove(const char *staging)
{
	umount2(staging, MNT_DETACH);
}
