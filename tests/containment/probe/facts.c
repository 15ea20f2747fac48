#include "facts.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

enum { OPEN_DIRECTORIES = 32, EXIT_USAGE = 64 };

/* What a session itself writes to, or what the kernel makes up. */
static const char *const passing[] = {"/proc", "/tmp", "/work", "/run", "/var/tmp", "/dev/shm", "/dev/pts"};

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

static int print_entry(const char *path, const struct stat *status, int kind, struct FTW *walk)
{
	(void)kind, (void)walk;
	for (size_t i = 0; i < sizeof passing / sizeof passing[0]; i++)
		if (strcmp(path, passing[i]) == 0)
			return FTW_SKIP_SUBTREE;
	printf("%s %o %u %u %lld %lld\n", path, status->st_mode, status->st_uid, status->st_gid,
	       S_ISDIR(status->st_mode) ? 0 : (long long)status->st_size, (long long)status->st_mtime);
	return FTW_CONTINUE;
}

/* The mounts with their options; not their numbers, which are others each time. */
static void print_mounts(void)
{
	char line[4096];
	FILE *file = fopen("/proc/self/mounts", "re");
	while (file && fgets(line, sizeof line, file))
		printf("mount %s", line);
	if (file)
		fclose(file);
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
