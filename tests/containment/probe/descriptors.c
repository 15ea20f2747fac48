/* What was inherited by mistake is inside the walls already (CVE-2024-21626, CVE-2016-9962). */
#include "attempt.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

extern char **environ;

enum { FDS = 4096, LEAKED_FDS = 256 };

/* A descriptor beside 0-2. */
static int find_open(const struct probe *probe)
{
	(void)probe;
	for (int fd = 3; fd < FDS; fd++)
		if (fcntl(fd, F_GETFD) >= 0)
			return OUTCOME_OPEN;
	return OUTCOME_NOTHING;
}

static int find_directory(const struct probe *probe)
{
	struct stat status;
	(void)probe;
	for (int fd = 0; fd < FDS; fd++)
		if (fstat(fd, &status) == 0 && S_ISDIR(status.st_mode))
			return OUTCOME_OPEN;
	return OUTCOME_NOTHING;
}

/* Through a directory that stayed open, up and out. */
static int climb_by_descriptor(const struct probe *probe)
{
	char path[128];
	(void)probe;
	for (int fd = 0; fd < LEAKED_FDS; fd++) {
		snprintf(path, sizeof path, "/proc/self/fd/%d/../../../../../../etc/shadow", fd);
		if (access(path, F_OK) == 0)
			return OUTCOME_OPEN;
	}
	return OUTCOME_NOTHING;
}

/* Variables that nobody has set for a command. */
static int find_variable(const struct probe *probe)
{
	static const char *const known[] = {"PATH=", "HOME=", "USER=",   "LOGNAME=", "LANG=", "TZ=",
	                                    "TERM=", "PWD=",  "OLDPWD=", "SHLVL=",   "_=",    "SANDBAR_PROBE_"};
	(void)probe;
	for (char **variable = environ; *variable; variable++) {
		bool is_known = false;
		for (size_t i = 0; i < COUNT(known); i++)
			is_known |= strncmp(*variable, known[i], strlen(known[i])) == 0;
		if (!is_known)
			return OUTCOME_OPEN;
	}
	return OUTCOME_NOTHING;
}

/* A working directory outside of the root reads as "(unreachable)". */
static int find_directory_outside(const struct probe *probe)
{
	char path[4096];
	(void)probe;
	ssize_t length = readlink("/proc/self/cwd", path, sizeof path - 1);
	if (length < 0)
		return errno;
	path[length] = '\0';
	return path[0] == '/' && !strstr(path, "(") ? OUTCOME_NOTHING : OUTCOME_OPEN;
}

/* Our own standard streams, opened again for what they were not opened for. */
static int write_to_input(const struct probe *probe)
{
	struct stat status;
	if (fstat(0, &status) < 0 || !S_ISREG(status.st_mode))
		return OUTCOME_NOTHING;
	return attempt_open(probe);
}

/* clang-format off */
const struct probe PROBES_descriptors[] = {
	RUN("open-descriptor", "find a descriptor above 2", "descriptors", E(OUTCOME_NOTHING), PROBE_SHOWN, find_open),
	RUN("open-directory", "find an open directory", "descriptors", E(OUTCOME_NOTHING), PROBE_SHOWN, find_directory),
	RUN("climb-by-descriptor", "/proc/self/fd/N/../../etc/shadow", "descriptors", E(OUTCOME_NOTHING), 0, climb_by_descriptor),
	RUN("environment", "find a variable of the server's", "environment", E(OUTCOME_NOTHING), PROBE_SHOWN, find_variable),
	RUN("directory-outside", "stand in a directory outside", "descriptors", E(OUTCOME_NOTHING), 0, find_directory_outside),
	PATH("write-to-input", "write to a file that is stdin", "descriptors", E(OUTCOME_NOTHING, EACCES), write_to_input, "/proc/self/fd/0", O_WRONLY),
	PATH("write-own-program", "write to the running program (/proc/self/exe)", "kernel", E(ETXTBSY, EACCES, EROFS), attempt_open, "/proc/self/exe", O_RDWR),
	PATH("truncate-own-program", "truncate the running program", "kernel", E(ETXTBSY, EACCES, EROFS), attempt_open, "/proc/self/exe", O_WRONLY | O_TRUNC),
	PATH("write-init", "open /proc/1/exe for writing (CVE-2019-5736)", "init", E(EACCES, ENOENT, EPERM), attempt_open, "/proc/1/exe", O_WRONLY),
	PATH("truncate-init", "truncate /proc/1/exe", "init", E(EACCES, ENOENT, EPERM), attempt_open, "/proc/1/exe", O_WRONLY | O_TRUNC),
	PATH("path-of-init", "an O_PATH descriptor of /proc/1/exe", "init", E(EACCES, ENOENT, EPERM), attempt_open, "/proc/1/exe", O_PATH),
	PATH("descriptor-of-init", "open /proc/1/fd/3", "init", E(EACCES, ENOENT, EPERM), attempt_open, "/proc/1/fd/3", O_RDONLY),
};
/* clang-format on */
PROBE_TABLE_END(descriptors)
