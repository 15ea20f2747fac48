#include "program.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int own_directory(char path[PATH_MAX], struct error *err)
{
	ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 1);
	if (length < 0)
		return error_set(err, errno, "find sandbard's own directory");
	path[length] = '\0';
	*strrchr(path, '/') = '\0';
	return 0;
}

/* The first of PLACES, seen from our own directory, where NAME is. -1 with errnum ENOENT: in none. */
static int open_beside(const char *const places[2], const char *name, int flags, struct error *err)
{
	char directory[PATH_MAX];
	char path[PATH_MAX + 128];
	if (own_directory(directory, err) < 0)
		return -1;
	for (int i = 0; i < 2; i++) {
		snprintf(path, sizeof path, "%s%s/%s", directory, places[i], name);
		int fd = open(path, flags | O_RDONLY | O_CLOEXEC);
		if (fd >= 0)
			return fd;
		if (errno != ENOENT)
			return error_set(err, errno, "open `%.180s`", path);
	}
	return error_set(err, ENOENT, "find `%s` in `%.100s` or in `%s` of it", name, directory, places[1] + 1);
}

int program_open(const char *name, struct error *err)
{
	static const char *const places[] = {"", "/../libexec/sandbar"};
	return open_beside(places, name, 0, err);
}

int program_open_pages(struct error *err)
{
	static const char *const places[] = {"", "/../share/sandbar"};
	struct error why = {0};
	int fd = open_beside(places, "pages", O_DIRECTORY, &why);
	if (fd >= 0)
		return fd;
	if (why.errnum != ENOENT) {
		*err = why;
		return -1;
	}
	fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	return fd < 0 ? error_set(err, errno, "open `/dev/null`") : fd;
}

int program_execute(int program, char *const argv[], struct error *err)
{
	static const char *const kept[] = {"ASAN_OPTIONS=", "UBSAN_OPTIONS=", "LSAN_OPTIONS="};
	char *environment[4] = {NULL};
	size_t count = 0;
	for (char **entry = environ; entry && *entry; entry++)
		for (size_t i = 0; i < sizeof kept / sizeof kept[0] && count < 3; i++)
			if (strncmp(*entry, kept[i], strlen(kept[i])) == 0)
				environment[count++] = *entry;
	execveat(program, "", argv, environment, AT_EMPTY_PATH);
	return error_set(err, errno, "execute `%s`", argv[0]);
}

int program_run(int program, char *const argv[], struct error *err)
{
	pid_t child = fork();
	if (child < 0)
		return error_set(err, errno, "fork for `%s`", argv[0]);
	if (child == 0) {
		struct error why;
		program_execute(program, argv, &why);
		dprintf(STDERR_FILENO, "sandbard: %s\n", why.message);
		_exit(127);
	}
	int status;
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return error_set(err, errno, "wait for `%s`", argv[0]);
	if (status != 0)
		return error_set(err, 0, "`%s` failed (wait status 0x%x)", argv[0], (unsigned)status);
	return 0;
}
