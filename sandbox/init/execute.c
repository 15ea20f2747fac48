#include "execute.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

/* A script may lack its first line; a program of another machine, or a part of one, is none, and must not be read as one. */
static bool is_text(const char *path)
{
	char head[128];
	int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	ssize_t length = file < 0 ? -1 : read(file, head, sizeof head);
	if (file >= 0)
		close(file);
	return length >= 0 && !memchr(head, '\0', (size_t)length) && !(length >= 4 && memcmp(head, "\177ELF", 4) == 0);
}

static int execute_path(char *path, char **argv, char **envp)
{
	execve(path, argv, envp);
	if (errno != ENOEXEC)
		return -1;
	if (!is_text(path)) {
		errno = ENOEXEC;
		return -1;
	}
	char *name = argv[0];
	argv[-1] = (char[]){"/bin/sh"};
	argv[0] = path;
	execve("/bin/sh", argv - 1, envp);
	argv[0] = name;
	errno = ENOEXEC;
	return -1;
}

static const char *search_path(char *const *envp)
{
	for (; *envp; envp++)
		if (strncmp(*envp, "PATH=", 5) == 0)
			return *envp + 5;
	return "/bin:/usr/bin";
}

/* As in glibc's execvpe: a directory of the list that is not there, or cannot be asked, is passed over. */
static bool goes_on(int errnum)
{
	static const int passed[] = {EACCES, ENOENT, ENOTDIR, ESTALE, ENODEV, ETIMEDOUT, ENAMETOOLONG};
	for (size_t i = 0; i < sizeof passed / sizeof *passed; i++)
		if (passed[i] == errnum)
			return true;
	return false;
}

static int execute_in(const char *directory, size_t length, char **argv, char **envp)
{
	char path[PATH_MAX + NAME_MAX + 2];
	size_t name = strlen(argv[0]);
	if (length >= PATH_MAX || name > NAME_MAX) {
		errno = ENAMETOOLONG;
		return -1;
	}
	char *at = mempcpy(path, directory, length);
	if (length > 0)
		*at++ = '/';
	memcpy(at, argv[0], name + 1);
	return execute_path(path, argv, envp);
}

int execute(char **argv, char **envp)
{
	errno = ENOENT;
	if (argv[0][0] == '\0')
		return -1;
	if (strchr(argv[0], '/'))
		return execute_path(argv[0], argv, envp);
	bool found = false;
	for (const char *at = search_path(envp), *end; at; at = *end ? end + 1 : NULL) {
		end = strchrnul(at, ':');
		execute_in(at, (size_t)(end - at), argv, envp);
		if (!goes_on(errno))
			return -1;
		found = found || errno == EACCES;
	}
	if (found)
		errno = EACCES;
	return -1;
}
