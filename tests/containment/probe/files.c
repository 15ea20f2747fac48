/* What of the host is visible is shared by every sandbox: one that could change a byte of it would own the others. */
#include "attempt.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/xattr.h>
#include <unistd.h>

#define TEXT(text) (unsigned long)(text)
#define SHARED_FILE "/usr/bin/env"

static int link_to_work(const struct probe *probe)
{
	int outcome = outcome_of(link(probe->path, "/tmp/probe.link"));
	unlink("/tmp/probe.link");
	return outcome;
}

static int set_attribute(const struct probe *probe)
{
	return outcome_of(setxattr(probe->path, "user.probe", "x", 1, 0));
}

static int set_times(const struct probe *probe)
{
	return outcome_of(utimensat(AT_FDCWD, probe->path, NULL, 0));
}

static int set_flags(const struct probe *probe)
{
	int fd = open(probe->path, O_RDONLY | O_CLOEXEC), flags = FS_IMMUTABLE_FL;
	if (fd < 0)
		return errno;
	int outcome = outcome_of(ioctl(fd, FS_IOC_SETFLAGS, &flags));
	close(fd);
	return outcome;
}

/* What was opened for reading, opened again through /proc for writing. */
static int reopen_for_writing(const struct probe *probe)
{
	char name[64];
	int fd = open(probe->path, (int)probe->number | O_CLOEXEC);
	if (fd < 0)
		return errno;
	snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
	int outcome = outcome_of_fd(open(name, O_WRONLY | O_CLOEXEC));
	close(fd);
	return outcome;
}

/* CVE-2022-0847: a page in a pipe that is taken for the pipe's own is written to. Tried on a file of our own. */
static int write_by_pipe(const struct probe *probe)
{
	char bytes[4096], byte = 'a';
	int ends[2], fd = open("/tmp/probe.pipe", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	(void)probe;
	memset(bytes, 'a', sizeof bytes);
	if (fd < 0 || write(fd, bytes, sizeof bytes) != sizeof bytes || pipe(ends) < 0)
		return errno;
	for (int i = 0; i < 16; i++)
		if (write(ends[1], bytes, sizeof bytes) != sizeof bytes)
			return errno;
	for (int i = 0; i < 16; i++)
		if (read(ends[0], bytes, sizeof bytes) != sizeof bytes)
			return errno;
	off_t offset = 0;
	if (splice(fd, &offset, ends[1], NULL, 1, 0) != 1 || write(ends[1], "b", 1) != 1 || pread(fd, &byte, 1, 1) != 1)
		return errno;
	unlink("/tmp/probe.pipe");
	return byte == 'b' ? OUTCOME_OPEN : OUTCOME_NOTHING;
}

/* A place where a program of another user's id, or a device, would count. */
static int lacks_flag(const struct probe *probe)
{
	struct statvfs status;
	if (statvfs(probe->path, &status) < 0)
		return errno;
	return status.f_flag & (unsigned long)probe->number ? OUTCOME_NOTHING : OUTCOME_OPEN;
}

static int execute_there(const struct probe *probe)
{
	int fd = open(probe->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0700);
	if (fd < 0)
		return errno;
	ssize_t wrote = write(fd, "#!/bin/sh\n", 10);
	close(fd);
	char *arguments[] = {(char *)probe->path, NULL}, *environment[] = {NULL};
	int outcome = wrote == 10 ? outcome_of(execve(probe->path, arguments, environment)) : errno;
	unlink(probe->path);
	return outcome;
}

/* Above the root there is nothing, however it is spelled. */
static int resolve_above(const struct probe *probe)
{
	struct stat root, above;
	if (stat("/", &root) < 0 || stat(probe->path, &above) < 0)
		return errno;
	return root.st_dev == above.st_dev && root.st_ino == above.st_ino ? OUTCOME_NOTHING : OUTCOME_OPEN;
}

/* clang-format off */
#define REFUSED E(EROFS, EACCES, EPERM)
#define CREATE(name, path) PATH(name, "create " path, "mount", REFUSED, attempt_open, path, O_WRONLY | O_CREAT)
#define MARKED(name_, flag, path_) \
	{.name = name_, .attempt = "is " path_ " mounted without " #flag, .control = "mount", .expected = {OUTCOME_NOTHING}, \
	 .run = lacks_flag, .path = path_, .number = flag, .flags = PROBE_SHOWN}
#define SHUT(name, attempt, function, path) PATH(name, attempt, "mount", REFUSED, function, path, 0)
#define CHANGE(name, attempt, number, ...) CALL(name, attempt, "mount", REFUSED, PROBE_GRAVE, number, __VA_ARGS__)

const struct probe PROBES_files[] = {
	CREATE("create-in-root", "/probe"), CREATE("create-in-usr", "/usr/bin/probe"), CREATE("create-in-etc", "/etc/probe"),
	CREATE("create-in-dev", "/dev/probe"), CREATE("create-in-root-home", "/root/probe"), CREATE("create-in-var", "/var/lib/probe"),
	CREATE("preload", "/etc/ld.so.preload"), CREATE("create-in-pts", "/dev/pts/probe"),
	WRITE("write-passwd", "mount", REFUSED, "/etc/passwd"), WRITE("write-hosts", "mount", REFUSED, "/etc/hosts"),
	WRITE("write-resolver", "mount", REFUSED, "/etc/resolv.conf"), WRITE("write-program", "mount", REFUSED, SHARED_FILE),
	WRITE("write-loader", "mount", E(EROFS, EACCES, EPERM, ENOENT), "/lib64/ld-linux-x86-64.so.2"),
	CHANGE("chmod-program", "chmod " SHARED_FILE, SYS_chmod, TEXT(SHARED_FILE), 0777),
	CHANGE("chown-program", "chown " SHARED_FILE, SYS_chown, TEXT(SHARED_FILE), 1000, 1000),
	CHANGE("truncate-program", "truncate " SHARED_FILE, SYS_truncate, TEXT(SHARED_FILE), 0),
	CHANGE("unlink-program", "unlink " SHARED_FILE, SYS_unlink, TEXT(SHARED_FILE)),
	CHANGE("rename-program", "rename " SHARED_FILE, SYS_rename, TEXT(SHARED_FILE), TEXT("/usr/bin/probe")),
	CHANGE("chmod-root", "chmod /", SYS_chmod, TEXT("/"), 0777), CHANGE("chmod-etc", "chmod /etc", SYS_chmod, TEXT("/etc"), 0777),
	CHANGE("chmod-passwd", "chmod /etc/passwd", SYS_chmod, TEXT("/etc/passwd"), 0666), CHANGE("chmod-dev", "chmod /dev", SYS_chmod, TEXT("/dev"), 0777),
	CHANGE("chmod-usr", "chmod /usr", SYS_chmod, TEXT("/usr"), 0777), CHANGE("chown-root", "chown / to 0", SYS_chown, TEXT("/"), 0, 0),
	CHANGE("chmod-sysctls", "chmod /proc/sys/kernel", SYS_chmod, TEXT("/proc/sys/kernel"), 0777), CHANGE("chmod-dev-null", "chmod /dev/null", SYS_chmod, TEXT("/dev/null"), 0600),
	CHANGE("replace-dev-null", "unlink /dev/null, to put a link there (CVE-2025-31133)", SYS_unlink, TEXT("/dev/null")),
	CHANGE("rename-proc", "rename /proc", SYS_rename, TEXT("/proc"), TEXT("/proc2")),
	CHANGE("symlink-in-root", "make a link in /", SYS_symlink, TEXT("/tmp"), TEXT("/probe")),
	CHANGE("directory-in-root", "make a directory in /", SYS_mkdir, TEXT("/probe"), 0700),
	PATH("link-program", "hard link " SHARED_FILE " into /tmp, to keep it", "mount", E(EXDEV, EPERM), link_to_work, SHARED_FILE, 0),
	SHUT("attribute-program", "set an extended attribute of " SHARED_FILE, set_attribute, SHARED_FILE),
	SHUT("touch-program", "set the times of " SHARED_FILE, set_times, SHARED_FILE),
	PATH("immutable-program", "make " SHARED_FILE " immutable", "mount", E(EROFS, EACCES, EPERM, ENOTTY), set_flags, SHARED_FILE, 0),
	PATH("reopen-program", "open " SHARED_FILE " again through /proc/self/fd, for writing", "mount", REFUSED, reopen_for_writing, SHARED_FILE, O_RDONLY),
	PATH("reopen-path", "open an O_PATH descriptor of " SHARED_FILE " again, for writing", "mount", REFUSED, reopen_for_writing, SHARED_FILE, O_PATH),
	RUN("dirty-pipe", "write into a file's pages through a pipe (CVE-2022-0847)", "kernel", E(OUTCOME_NOTHING), 0, write_by_pipe),
	PATH("read-shadow", "read /etc/shadow", "root", E(ENOENT, EACCES), attempt_read, "/etc/shadow", 0),
	PATH("read-root-home", "list /root", "root", E(ENOENT, EACCES, OUTCOME_NOTHING), attempt_list, "/root", 0),
	PATH("read-homes", "list /home", "root", E(ENOENT, EACCES, OUTCOME_NOTHING), attempt_list, "/home", 0),
	PATH("read-boot", "list /boot", "root", E(ENOENT, EACCES, OUTCOME_NOTHING), attempt_list, "/boot", 0),
	PATH("read-srv", "list /srv", "root", E(ENOENT, EACCES, OUTCOME_NOTHING), attempt_list, "/srv", 0),
	PATH("read-log", "list /var/log", "root", E(ENOENT, EACCES, OUTCOME_NOTHING), attempt_list, "/var/log", 0),
	PATH("read-state", "list the server's state", "root", E(ENOENT, EACCES, OUTCOME_NOTHING), attempt_list, "/var/lib/sandbar", 0),
	PATH("read-ssh-keys", "list /etc/ssh", "root", E(ENOENT, EACCES, OUTCOME_NOTHING), attempt_list, "/etc/ssh", 0),
	PATH("above-root", "go up from /", "root", E(OUTCOME_NOTHING), resolve_above, "/../../../..", 0),
	PATH("above-root-link", "go up from /proc/self/root", "root", E(OUTCOME_NOTHING), resolve_above, "/proc/self/root/../..", 0),
	MARKED("setuid-usr", ST_NOSUID, "/usr"), MARKED("setuid-work", ST_NOSUID, "/work"), MARKED("setuid-tmp", ST_NOSUID, "/tmp"),
	MARKED("setuid-shm", ST_NOSUID, "/dev/shm"), MARKED("setuid-run", ST_NOSUID, "/run"), MARKED("setuid-root", ST_NOSUID, "/"),
	MARKED("device-usr", ST_NODEV, "/usr"), MARKED("device-work", ST_NODEV, "/work"), MARKED("device-tmp", ST_NODEV, "/tmp"),
	MARKED("device-shm", ST_NODEV, "/dev/shm"), MARKED("device-root", ST_NODEV, "/"),
	PATH("execute-in-shm", "execute a file in /dev/shm", "mount", E(EACCES), execute_there, "/dev/shm/probe.sh", 0),
};
/* clang-format on */
PROBE_TABLE_END(files)
