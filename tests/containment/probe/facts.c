#include "facts.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <mntent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

enum { OPEN_DIRECTORIES = 32, EXIT_USAGE = 64 };

/* What a session itself writes to, what the kernel makes up, and what is only read by people. */
static const char *const passing[] = {
	"/proc", "/tmp", "/work", "/run", "/var/tmp", "/dev/shm", "/dev/pts", "/usr/share", "/usr/include", "/usr/src",
};

/* One line a file of what the kernel says of itself; hexadecimal, since the configuration is compressed. */
static void print_file(const char *path)
{
	unsigned char bytes[4096];
	ssize_t got;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	printf("%s ", path);
	while ((got = read(fd, bytes, sizeof bytes)) > 0)
		for (ssize_t i = 0; i < got; i++)
			printf("%02x", bytes[i]);
	putchar('\n');
	close(fd);
}

static int print_kernel(void)
{
	struct utsname name;
	if (uname(&name) < 0)
		return EXIT_FAILURE;
	printf("uname %s %s %s %s\n", name.sysname, name.release, name.version, name.machine);
	print_file("/proc/version");
	print_file("/proc/config.gz");
	return 0;
}

/* Fowler, Noll, Vo (FNV-1a, 64 bits): tells contents apart, and need not withstand anybody. */
static uint64_t hash_file(const char *path)
{
	unsigned char bytes[4096];
	uint64_t hash = UINT64_C(14695981039346656037);
	ssize_t got;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	while (fd >= 0 && (got = read(fd, bytes, sizeof bytes)) > 0)
		for (ssize_t i = 0; i < got; i++)
			hash = (hash ^ bytes[i]) * UINT64_C(1099511628211);
	if (fd >= 0)
		close(fd);
	return hash;
}

/* What comes from the host has its time; what is made when the server starts has only its contents. */
static int print_entry(const char *path, const struct stat *status, int kind, struct FTW *walk)
{
	(void)kind, (void)walk;
	for (size_t i = 0; i < sizeof passing / sizeof passing[0]; i++)
		if (strcmp(path, passing[i]) == 0)
			return FTW_SKIP_SUBTREE;
	printf("%s %o %u %u", path, status->st_mode, status->st_uid, status->st_gid);
	if (S_ISREG(status->st_mode) && strncmp(path, "/usr/", 5) == 0)
		printf(" %lld %lld", (long long)status->st_size, (long long)status->st_mtime);
	else if (S_ISREG(status->st_mode))
		printf(" %016" PRIx64, hash_file(path));
	putchar('\n');
	return FTW_CONTINUE;
}

/* Where, what, and the options that confine. The others hold numbers that are this session's own. */
static void print_mounts(void)
{
	static const char *const options[] = {"ro", "nosuid", "nodev", "noexec", "hidepid"};
	FILE *file = setmntent("/proc/self/mounts", "re");
	for (struct mntent *entry; file && (entry = getmntent(file));) {
		printf("mount %s %s", entry->mnt_dir, entry->mnt_type);
		for (size_t i = 0; i < sizeof options / sizeof options[0]; i++)
			if (hasmntopt(entry, options[i]))
				printf(" %s", options[i]);
		putchar('\n');
	}
	if (file)
		endmntent(file);
}

/* The order of a directory's entries may change without a change of theirs: who reads this sorts it. */
static int print_root(void)
{
	print_mounts();
	return nftw("/", print_entry, OPEN_DIRECTORIES, FTW_PHYS | FTW_ACTIONRETVAL) == 0 ? 0 : EXIT_FAILURE;
}

int facts_print(const char *subject)
{
	if (subject && strcmp(subject, "kernel") == 0)
		return print_kernel();
	if (subject && strcmp(subject, "root") == 0)
		return print_root();
	fputs("sandbar-probe: facts of what: kernel or root\n", stderr);
	return EXIT_USAGE;
}
