#include "facts.h"

#include "sha256.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <mntent.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

enum { EXIT_USAGE = 64, TOLD_DEPTH = 2 };

/* What a session itself writes to, what the kernel makes up, and what is only read by people. */
static const char *const passing[] = {
	"/proc", "/tmp", "/work", "/run", "/var/tmp", "/dev/shm", "/dev/pts", "/usr/share", "/usr/include", "/usr/src",
};

static void add_file(struct sha256 *hash, const char *path)
{
	unsigned char bytes[16384];
	ssize_t got;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	while (fd >= 0 && (got = read(fd, bytes, sizeof bytes)) > 0)
		sha256_add(hash, bytes, (size_t)got);
	if (fd >= 0)
		close(fd);
}

static void print_hash(const char *name, struct sha256 *hash)
{
	char text[SHA256_TEXT];
	sha256_finish(hash, text);
	printf("%s %s\n", name, text);
}

static int print_kernel(void)
{
	static const char *const files[] = {"/proc/version", "/proc/config.gz"};
	struct utsname name;
	if (uname(&name) < 0)
		return EXIT_FAILURE;
	printf("uname %s %s %s %s\n", name.sysname, name.release, name.version, name.machine);
	for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
		struct sha256 hash;
		sha256_init(&hash);
		add_file(&hash, files[i]);
		print_hash(files[i], &hash);
	}
	return 0;
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

/* ---- The root ---- */

__attribute__((format(printf, 2, 3))) static void add_text(struct sha256 *hash, const char *format, ...)
{
	char text[PATH_MAX + 128];
	va_list arguments;
	va_start(arguments, format);
	int length = vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	sha256_add(hash, text, (size_t)length < sizeof text ? (size_t)length : sizeof text - 1);
}

static bool is_passing(const char *path)
{
	for (size_t i = 0; i < sizeof passing / sizeof passing[0]; i++)
		if (strcmp(path, passing[i]) == 0)
			return true;
	return false;
}

/* What comes from the host has its size and time; what is made when the server starts has only its contents. */
static void add_entry(struct sha256 *hash, const char *path, const struct stat *status)
{
	char target[PATH_MAX];
	add_text(hash, "%s %o %u %u", path, status->st_mode, status->st_uid, status->st_gid);
	ssize_t length = S_ISLNK(status->st_mode) ? readlink(path, target, sizeof target) : 0;
	if (length > 0)
		sha256_add(hash, target, (size_t)length);
	if (S_ISREG(status->st_mode) && strncmp(path, "/usr/", 5) == 0)
		add_text(hash, " %lld %lld", (long long)status->st_size, (long long)status->st_mtime);
	else if (S_ISREG(status->st_mode))
		add_file(hash, path);
	sha256_add(hash, "\n", 1);
}

static int is_name(const struct dirent *entry)
{
	return strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
}

/* In the order of the names, since that of a directory may change without a change of theirs. The first directories have a
 * hash of their own each, so that who compares sees where it was; what is deeper is part of theirs. */
static void walk(const char *directory, int depth, struct sha256 *hash)
{
	struct dirent **entries;
	int count = scandir(directory[0] ? directory : "/", &entries, is_name, alphasort);
	for (int i = 0; i < count; i++) {
		char path[PATH_MAX];
		struct stat status;
		int length = snprintf(path, sizeof path, "%s/%s", directory, entries[i]->d_name);
		free(entries[i]);
		if (length >= (int)sizeof path || lstat(path, &status) < 0 || is_passing(path))
			continue;
		add_entry(hash, path, &status);
		if (!S_ISDIR(status.st_mode))
			continue;
		struct sha256 own;
		sha256_init(&own);
		walk(path, depth + 1, depth < TOLD_DEPTH ? &own : hash);
		if (depth < TOLD_DEPTH)
			print_hash(path, &own);
	}
	if (count >= 0)
		free(entries);
}

static int print_root(void)
{
	struct sha256 hash;
	sha256_init(&hash);
	print_mounts();
	walk("", 0, &hash);
	print_hash("/", &hash);
	return 0;
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
