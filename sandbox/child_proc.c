/*
 * child_proc.c: /proc as the users' processes see it: of the machine only what a row shows.
 *
 * What is left of a whole /proc is decided by what is shown, not by what is hidden: a file that a newer kernel or a
 * module adds is hidden. A host's own /proc may be covered in parts, as in containers; then the kernel gives no new one to
 * a user namespace, and host.c has put a whole one in front first.
 */
#include "child.h"
#include "mount.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#define INERT (MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC)

enum { ENTRIES_BYTES = 16 * 1024, IPC_SHARE = 4 /* of the memory, that shared segments may have */ };

/* Beside processes and symbolic links. What of it is the host's and not the session's is told in docs: the processors,
 * memory, load and uptime, which run-time systems size their pools by. */
static const char *const shown[] = {
	"cgroups",     /* JDKs before 21 look for their limits by it */
	"cpuinfo",     /* glibc, node, gcc -march=native */
	"filesystems", /* mount(8), glibc's shm_open */
	"loadavg",     /* make -l, node, htop */
	"meminfo",     /* gcc, java, node, free, htop */
	"stat",        /* java, node, ps, htop */
	"sys",         /* read-only, below */
	"sysvipc",     /* of the own IPC namespace */
	"tty",         /* ps names terminals by it */
	"uptime",      /* ps, node, htop */
	"version",     /* uname and the like, java */
};

/* With ids of their own the users' processes see no others; init, in a group of its own, sees all, as its killing of trees needs.
 * With a single id there is no group that only init is in: there it looks through a proc of its own, and in that of the
 * users what is not dumpable is invisible, init first of all. Files of what is not dumpable belong to 0 inside: where that is
 * the user, there is no sandbox without it. */
int child_make_proc(struct child_setup *setup, struct error *err)
{
	char init[16];
	snprintf(init, sizeof init, "%" PRIu32, setup->init);
	const struct mount_option for_group[] = {{"source", "proc"}, {"hidepid", "invisible"}, {"gid", init}, {NULL, NULL}};
	const struct mount_option for_user[] = {{"source", "proc"}, {"hidepid", "invisible"}, {NULL, NULL}};
	const struct mount_option plain[] = {{"source", "proc"}, {NULL, NULL}};
	bool has_ranges = setup->host->has_ranges;
	setup->proc = mount_create("proc", has_ranges ? for_group : for_user, INERT, setup->user == 0 ? err : NULL);
	if (setup->proc >= 0)
		setup->notes |= CHILD_HIDES_PROCESSES;
	else if (setup->user != 0)
		setup->proc = mount_create("proc", plain, INERT, err);
	if (setup->proc < 0)
		return -1;
	setup->init_proc = has_ranges ? setup->proc : mount_create("proc", plain, INERT, err);
	return setup->init_proc < 0 ? -1 : 0;
}

static bool is_shown(const struct dirent64 *entry)
{
	if (entry->d_type == DT_LNK || (entry->d_name[0] >= '0' && entry->d_name[0] <= '9') || entry->d_name[0] == '.')
		return true;
	for (size_t i = 0; i < sizeof shown / sizeof shown[0]; i++)
		if (strcmp(entry->d_name, shown[i]) == 0)
			return true;
	return false;
}

/* mount(2), not the newer calls: one instead of three, some forty times. No name in it is a user's. */
static int hide(const struct dirent64 *entry, struct error *err)
{
	char path[sizeof "/proc/" + NAME_MAX];
	snprintf(path, sizeof path, "/proc/%s", entry->d_name);
	if (mount(entry->d_type == DT_DIR ? "/var/empty" : "/dev/null", path, NULL, MS_BIND, NULL) < 0 && errno != ENOENT)
		return error_set(err, errno, "hide `%s`", path);
	return 0;
}

static int hide_all(int directory, struct error *err)
{
	_Alignas(struct dirent64) char entries[ENTRIES_BYTES];
	ssize_t got;
	while ((got = getdents64(directory, entries, sizeof entries)) > 0)
		for (ssize_t at = 0; at < got;) {
			const struct dirent64 *entry = (const struct dirent64 *)(const void *)(entries + at);
			at += entry->d_reclen;
			if (!is_shown(entry) && hide(entry, err) < 0)
				return -1;
		}
	return got < 0 ? error_set(err, errno, "list `/proc`") : 0;
}

/* Of the session's own IPC namespace, whose objects outlive who made them: what a process that was killed for memory leaves
 * must not keep the session full for ever. Who may not (before Linux 6.10) leaves them as they are. */
static void bound_ipc(const struct sandbox_limits *limits)
{
	char pages[24];
	snprintf(pages, sizeof pages, "%" PRIu64, limits->memory / IPC_SHARE / (uint64_t)sysconf(_SC_PAGESIZE));
	const struct {
		const char *path, *text;
	} rows[] = {
		{"/proc/sys/kernel/sem", "250 8000 32 64"}, /* a set, all, at once, sets */
		{"/proc/sys/kernel/msgmni", "128"},
		{"/proc/sys/kernel/shmall", pages},
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		int fd = open(rows[i].path, O_WRONLY | O_CLOEXEC);
		if (fd < 0)
			return;
		ssize_t ignored = write(fd, rows[i].text, strlen(rows[i].text));
		(void)ignored;
		close(fd);
	}
}

int child_attach_proc(struct child_setup *setup, struct error *err)
{
	if (mount_attach(setup->proc, AT_FDCWD, "/proc", err) < 0)
		return -1;
	int directory = openat(setup->proc, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (directory < 0)
		return error_set(err, errno, "open `/proc`");
	int result = hide_all(directory, err);
	close(directory);
	if (result < 0)
		return -1;
	bound_ipc(setup->limits);
	return mount_bind(AT_FDCWD, "/proc/sys", "/proc/sys", false, MOUNT_ATTR_RDONLY | INERT, err);
}
