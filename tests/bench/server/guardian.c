#include "guardian.h"

#include "tests/bench/bare/measure.h"

#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STOP_MS = 30000 }; /* a server ends all sessions within ten seconds */

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *place)
{
	(void)status, (void)kind, (void)place;
	return remove(path);
}

/* What was blocked or ignored here is not so for the server. */
static void become_server(pid_t parent, const sigset_t *signals)
{
	int null = open("/dev/null", O_WRONLY);
	if (prctl(PR_SET_PDEATHSIG, SIGTERM) != 0 || getppid() != parent || null < 0 || dup2(null, STDOUT_FILENO) < 0)
		_exit(127);
	sigprocmask(SIG_SETMASK, signals, NULL);
}

static pid_t start_server(const struct guardian *guardian, const sigset_t *signals,
                          void (*run)(const char *folder, const void *argument), const void *argument)
{
	pid_t parent = getpid(), pid = fork();
	if (pid != 0)
		return pid;
	become_server(parent, signals);
	run(guardian->folder, argument);
	_exit(127);
}

/* Until the program is gone, or the server, which is then told by the end of the socket. */
static void guard(int program, int server)
{
	struct pollfd polled[] = {{.fd = program, .events = POLLIN}, {.fd = server, .events = POLLIN}};
	poll(polled, 2, -1);
	if (polled[1].revents)
		return;
	syscall(SYS_pidfd_send_signal, server, SIGTERM, NULL, 0);
	if (poll(&polled[1], 1, STOP_MS) == 0) {
		fprintf(stderr, "the server did not stop when it was asked to\n");
		syscall(SYS_pidfd_send_signal, server, SIGKILL, NULL, 0);
	}
}

static void be_guardian(const struct guardian *guardian, int program, pid_t server)
{
	int watched = (int)syscall(SYS_pidfd_open, server, 0);
	bool told = write(program, &server, sizeof server) == sizeof server;
	if (told && watched >= 0)
		guard(program, watched);
	else
		kill(server, SIGKILL);
	waitpid(server, NULL, 0);
	nftw(guardian->folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	_exit(0);
}

/* No signal comes between the making of the folder and the process that removes it. */
void guardian_start(struct guardian *guardian, void (*run)(const char *folder, const void *argument),
                    const void *argument)
{
	int pair[2];
	sigset_t every, before;
	*guardian = (struct guardian){.folder = "/tmp/sandbar-bench-XXXXXX", .owner = getpid()};
	sigfillset(&every);
	sigprocmask(SIG_SETMASK, &every, &before);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0 || !mkdtemp(guardian->folder))
		die("a folder for the server");
	guardian->pid = fork();
	if (guardian->pid < 0)
		die("fork");
	if (guardian->pid == 0) {
		setsid();
		close(pair[0]);
		be_guardian(guardian, pair[1], start_server(guardian, &before, run, argument));
	}
	close(pair[1]);
	guardian->socket = pair[0];
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (read(guardian->socket, &guardian->server, sizeof guardian->server) != sizeof guardian->server)
		die("start the server");
}

bool guardian_has_server(const struct guardian *guardian)
{
	char byte;
	return recv(guardian->socket, &byte, 1, MSG_DONTWAIT) != 0;
}

void guardian_stop(struct guardian *guardian)
{
	if (getpid() != guardian->owner)
		return;
	shutdown(guardian->socket, SHUT_RDWR);
	close(guardian->socket);
	waitpid(guardian->pid, NULL, 0);
}
