#include "mount.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/mount.h>
#include <unistd.h>

static int configure(int fs, const char *type, const struct mount_option *options, struct error *err)
{
	for (; options && options->key; options++) {
		unsigned command = options->value ? FSCONFIG_SET_STRING : FSCONFIG_SET_FLAG;
		if (fsconfig(fs, command, options->key, options->value, 0) < 0)
			return error_set(err, errno, "%s: option `%s=%s`", type, options->key,
			                 options->value ? options->value : "");
	}
	if (fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
		return error_set(err, errno, "%s: create", type);
	return 0;
}

int mount_create(const char *type, const struct mount_option *options, uint64_t attributes, struct error *err)
{
	int fs = fsopen(type, FSOPEN_CLOEXEC);
	if (fs < 0)
		return error_set(err, errno, "fsopen `%s`", type);
	int mount_fd = -1;
	if (configure(fs, type, options, err) == 0) {
		mount_fd = fsmount(fs, FSMOUNT_CLOEXEC, (unsigned)attributes);
		if (mount_fd < 0)
			error_set(err, errno, "fsmount `%s`", type);
	}
	close(fs);
	return mount_fd;
}

int mount_clone(int dirfd, const char *path, bool recursive, struct error *err)
{
	unsigned flags = OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC;
	flags |= *path ? 0u : (unsigned)AT_EMPTY_PATH;
	flags |= recursive ? (unsigned)AT_RECURSIVE : 0u;
	int fd = open_tree(dirfd, path, flags);
	return fd >= 0 ? fd : error_set(err, errno, "open_tree `%s`", path);
}

int mount_restrict(int mount_fd, uint64_t attributes, bool recursive, struct error *err)
{
	struct mount_attr attr = {.attr_set = attributes};
	unsigned flags = (unsigned)AT_EMPTY_PATH | (recursive ? (unsigned)AT_RECURSIVE : 0u);
	if (mount_setattr(mount_fd, "", flags, &attr, sizeof attr) < 0)
		return error_set(err, errno, "mount_setattr");
	return 0;
}

int mount_attach(int mount_fd, int dirfd, const char *path, struct error *err)
{
	if (move_mount(mount_fd, "", dirfd, path, MOVE_MOUNT_F_EMPTY_PATH) < 0)
		return error_set(err, errno, "move_mount on `%s`", path);
	return 0;
}

int mount_bind(int dirfd, const char *from, const char *to, bool recursive, uint64_t attributes, struct error *err)
{
	int fd = mount_clone(dirfd, from, recursive, err);
	if (fd < 0)
		return -1;
	int result = attributes ? mount_restrict(fd, attributes, recursive, err) : 0;
	if (result == 0)
		result = mount_attach(fd, dirfd, to, err);
	close(fd);
	return result;
}
