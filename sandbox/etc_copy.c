/*
 * etc_copy.c: the entries are copied, not bound: each mount in the tree would be paid for again by every sandbox.
 * Nothing that can hold a secret or say something about the host's users or network is in the list.
 */
#include "etc_copy.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	COPY_BYTES = 24 * 1024 * 1024,
	COPY_ENTRIES = 8192,
	COPY_DEPTH = 8,
};

/* Patterns of fnmatch(3). */
/* clang-format off */
static const char *const patterns[] = {
	/* programs and libraries find each other */
	"alternatives", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "OpenCL", "vulkan", "glvnd",
	/* certificates (private keys are not readable for all, and so are not copied) */
	"ssl", "ca-certificates", "ca-certificates.conf", "pki",
	/* names and tables */
	"protocols", "services", "ethertypes", "rpc", "networks", "host.conf", "gai.conf", "mime.types", "mailcap",
	"magic", "magic.mime", "terminfo", "localtime", "timezone", "locale.alias", "locale.conf", "shells", "os-release",
	"debian_version", "lsb-release", "fonts", "xattr.conf", "netconfig",
	/* shells and editors */
	"bash.bashrc", "bash_completion", "profile", "inputrc", "zsh", "vim", "nanorc", "screenrc", "tmux.conf", "skel",
	"emacs",
	/* languages and builders */
	"python2*", "python3*", "perl", "java*", "maven*", "gradle*", "ruby*", "lua*", "php*", "R", "julia", "fpc*.cfg",
	"gnucobol", "ghc*", "texmf", "groff", "gprofng.rc", "gdb", "sgml", "xml", "manpath.config",
};
/* clang-format on */

struct copying {
	uint64_t bytes;
	unsigned entries;
};

static bool is_listed(const char *name)
{
	for (size_t i = 0; i < sizeof patterns / sizeof patterns[0]; i++)
		if (fnmatch(patterns[i], name, 0) == 0)
			return true;
	return false;
}

static int copy_file(int from_dir, int to_dir, const char *name, const struct stat *st, struct error *err)
{
	int from = openat(from_dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (from < 0)
		return errno == ENOENT || errno == EACCES ? 0 : error_set(err, errno, "open `/etc/…/%s`", name);
	mode_t mode = st->st_mode & 0755;
	int to = openat(to_dir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
	int result = to < 0 ? error_set(err, errno, "create `/etc/…/%s`", name) : 0;
	for (off_t left = st->st_size; result == 0 && left > 0;) {
		ssize_t n = sendfile(to, from, NULL, (size_t)left);
		if (n < 0)
			result = error_set(err, errno, "copy `/etc/…/%s`", name);
		if (n <= 0)
			break;
		left -= n;
	}
	if (to >= 0)
		close(to);
	close(from);
	return result;
}

static int copy_link(int from_dir, int to_dir, const char *name, struct error *err)
{
	char target[4096];
	ssize_t n = readlinkat(from_dir, name, target, sizeof target - 1);
	if (n < 0)
		return 0;
	target[n] = '\0';
	if (symlinkat(target, to_dir, name) < 0)
		return error_set(err, errno, "symlink `/etc/…/%s`", name);
	return 0;
}

static int copy_children(struct copying *copying, int from, int to, unsigned depth, struct error *err);

static int copy_directory(struct copying *copying, int from_dir, int to_dir, const char *name, unsigned depth,
                          struct error *err)
{
	if (mkdirat(to_dir, name, 0755) < 0)
		return error_set(err, errno, "mkdir `/etc/…/%s`", name);
	int from = openat(from_dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (from < 0)
		return 0;
	int to = openat(to_dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	int result = to < 0 ? error_set(err, errno, "open `/etc/…/%s`", name) : 0;
	if (result == 0)
		result = copy_children(copying, from, to, depth, err);
	if (to >= 0)
		close(to);
	close(from);
	return result;
}

static int copy_entry(struct copying *copying, int from, int to, const char *name, unsigned depth, struct error *err)
{
	struct stat st;
	if (fstatat(from, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return 0; /* it has gone since */
	if (++copying->entries > COPY_ENTRIES)
		return error_set(err, 0, "/etc: more than %d entries to copy", COPY_ENTRIES);
	if (S_ISLNK(st.st_mode))
		return copy_link(from, to, name, err);
	if (S_ISDIR(st.st_mode) && (st.st_mode & S_IXOTH) && depth > 0)
		return copy_directory(copying, from, to, name, depth - 1, err);
	if (!S_ISREG(st.st_mode) || !(st.st_mode & S_IROTH))
		return 0;
	copying->bytes += (uint64_t)st.st_size;
	if (copying->bytes > COPY_BYTES)
		return error_set(err, 0, "/etc: more than %d bytes to copy", COPY_BYTES);
	return copy_file(from, to, name, &st, err);
}

/* At the top (COPY_DEPTH) only the listed ones. */
static int copy_children(struct copying *copying, int from, int to, unsigned depth, struct error *err)
{
	int fd = fcntl(from, F_DUPFD_CLOEXEC, 0);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir) {
		error_set(err, errno, "read a directory of /etc");
		if (fd >= 0)
			close(fd);
		return -1;
	}
	int result = 0;
	for (struct dirent *entry; result == 0 && (entry = readdir(dir));) {
		const char *name = entry->d_name;
		bool self = name[0] == '.' && (name[1] == '\0' || (name[1] == '.' && name[2] == '\0'));
		if (!self && (depth < COPY_DEPTH || is_listed(name)))
			result = copy_entry(copying, from, to, name, depth, err);
	}
	closedir(dir);
	return result;
}

int etc_copy(int host_etc, int etc_fd, struct error *err)
{
	struct copying copying = {0};
	return copy_children(&copying, host_etc, etc_fd, COPY_DEPTH, err);
}
