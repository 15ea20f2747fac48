/*
 * What is left to a gateway that was taken over: each attempt works before it has confined itself, and not after.
 */
#include "server/gateway/confine.h"
#include "sandbox/landlock.h"
#include "server/gateway/inherit.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int closing(int fd)
{
	int errnum = errno;
	if (fd >= 0)
		close(fd);
	errno = errnum;
	return fd < 0 ? -1 : 0;
}

static int make_a_socket(void)
{
	return closing(socket(AF_UNIX, SOCK_STREAM, 0));
}

static int make_code(void)
{
	void *memory = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return memory == MAP_FAILED ? -1 : munmap(memory, 4096);
}

static int turn_to_code(void)
{
	void *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int result = mprotect(memory, 4096, PROT_READ | PROT_EXEC), errnum = errno;
	munmap(memory, 4096);
	errno = errnum;
	return result;
}

/* Without a name, so that it fails otherwise where it is not refused. */
static int start_a_program(void)
{
	syscall(SYS_execve, NULL, NULL, NULL);
	if (errno == EFAULT)
		errno = 0;
	return errno == 0 ? 0 : -1;
}

static int signal_the_parent(void)
{
	return kill(getppid(), 0);
}

static int read_a_file(void)
{
	return closing(open("/etc/passwd", O_RDONLY));
}

static int see_a_folder(void)
{
	return closing(open("/proc/self/fd", O_RDONLY | O_DIRECTORY));
}

static int make_a_file_elsewhere(void)
{
	return closing(open("/tmp", O_RDWR | O_TMPFILE, 0600));
}

static int make_a_file_of_a_session(void)
{
	int fd = openat(INHERIT_SESSIONS, "journal", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	int result = fd < 0 ? -1 : posix_fallocate(fd, 0, 4096);
	return closing(fd) < 0 || result ? -1 : unlinkat(INHERIT_SESSIONS, "journal", 0);
}

static int replace_a_file_of_tokens(void)
{
	if (closing(openat(INHERIT_TOKENS, "part", O_RDWR | O_CREAT | O_CLOEXEC, 0600)) < 0)
		return -1;
	return renameat(INHERIT_TOKENS, "part", INHERIT_TOKENS, "tokens");
}

static int seal_memory(void)
{
	return closing(memfd_create("payload", MFD_CLOEXEC | MFD_ALLOW_SEALING));
}

static const struct attempt {
	const char *name;
	int (*run)(void);
	int errnum;       /* afterwards; 0 = it works */
	bool is_landlock; /* and that it is which refuses */
} attempts[] = {
	{"make a socket", make_a_socket, ENOSYS, false},
	{"make code", make_code, ENOSYS, false},
	{"turn memory to code", turn_to_code, ENOSYS, false},
	{"start a program", start_a_program, ENOSYS, false},
	{"signal another process", signal_the_parent, ENOSYS, false},
	{"read a file", read_a_file, EACCES, true},
	{"see a folder", see_a_folder, EACCES, true},
	{"make a file elsewhere", make_a_file_elsewhere, EACCES, true},
	{"make a file of a session", make_a_file_of_a_session, 0, false},
	{"replace a file of tokens", replace_a_file_of_tokens, 0, false},
	{"seal memory", seal_memory, 0, false},
};

static bool has_landlock; /* which cannot be asked afterwards */

/* Returns the number of the attempt that went wrong, from 1. */
static int try_all(bool is_confined)
{
	for (size_t i = 0; i < sizeof attempts / sizeof attempts[0]; i++) {
		const struct attempt *attempt = &attempts[i];
#ifdef __SANITIZE_ADDRESS__
		if (attempt->is_landlock)
			continue; /* there every file may be read, for reports */
#endif
		bool refused = is_confined && attempt->errnum && (!attempt->is_landlock || has_landlock);
		errno = 0;
		int result = attempt->run();
		if (refused ? result == 0 || errno != attempt->errnum : result < 0)
			return (int)i + 1;
	}
	return 0;
}

static _Noreturn void story(const char *folder)
{
	struct error err = {0};
	int directory = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dup2(directory, INHERIT_SESSIONS) < 0 || dup2(directory, INHERIT_TOKENS) < 0)
		_exit(99);
	has_landlock = landlock_abi() > 0;
	int wrong = try_all(false);
	if (wrong)
		_exit(100 + wrong);
	if (gateway_confine(&err) < 0) {
		fprintf(stderr, "%s\n", err.message);
		_exit(99);
	}
	_exit(try_all(true));
}

Test(confine, a_gateway_that_was_taken_over_finds_nothing_to_go_on_with)
{
	char folder[] = "/tmp/sandbar-test-XXXXXX", path[64];
	int status;
	cr_assert(mkdtemp(folder));
	pid_t pid = fork();
	if (pid == 0)
		story(folder);
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	snprintf(path, sizeof path, "%s/tokens", folder);
	unlink(path);
	rmdir(folder);
	cr_assert(WIFEXITED(status), "signal %d", WTERMSIG(status));
	int code = WEXITSTATUS(status);
	cr_assert_eq(code, 0, "%s: %s", code > 100 ? "before" : "after",
	             code == 99 ? "it could not be set up" : attempts[(code > 100 ? code - 100 : code) - 1].name);
}
