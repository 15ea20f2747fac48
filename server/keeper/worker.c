#include "worker.h"
#include "program.h"
#include "server/base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SOCKET = 3, PROGRAM, FIRST_CLOSED, ASIDE = 64 };

struct worker {
	struct worker *next, **list;
	struct watch watch; /* of its pidfd */
	int pidfd, epoll;
};

static int place_descriptors(int socket, int program, struct error *err)
{
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	int socket_aside = fcntl(socket, F_DUPFD_CLOEXEC, ASIDE), program_aside = fcntl(program, F_DUPFD_CLOEXEC, ASIDE);
	if (null < 0 || socket_aside < 0 || program_aside < 0 || dup2(null, STDIN_FILENO) < 0 ||
	    dup2(STDERR_FILENO, STDOUT_FILENO) < 0 || dup2(socket_aside, SOCKET) < 0 ||
	    dup3(program_aside, PROGRAM, O_CLOEXEC) < 0 || syscall(SYS_close_range, FIRST_CLOSED, ~0u, 0) < 0)
		return error_set(err, errno, "place the worker's descriptors");
	return 0;
}

/* In the child. Returns only on error. */
static int become_worker(const struct worker_launch *launch, int socket, pid_t parent, struct error *err)
{
	char *argv[] = {(char *)(uintptr_t) "sandbard-worker", NULL};
	sigset_t none;
	sigemptyset(&none);
	setsid();
	if (place_descriptors(socket, launch->program, err) < 0 || identity_assume(&launch->identity, err) < 0)
		return -1;
	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0 || getppid() != parent)
		return error_set(err, errno, "end with the keeper");
	signal(SIGPIPE, SIG_DFL);
	sigprocmask(SIG_SETMASK, &none, NULL);
	return program_execute(PROGRAM, argv, err);
}

static void forget(struct worker *worker)
{
	struct worker **link = worker->list;
	while (*link != worker)
		link = &(*link)->next;
	*link = worker->next;
	watch_remove(worker->epoll, worker->pidfd);
	close(worker->pidfd);
	free(worker);
}

static void ended(void *subject, uint32_t events)
{
	struct worker *worker = subject;
	siginfo_t info = {0};
	(void)events;
	if (waitid(P_PIDFD, (id_t)worker->pidfd, &info, WEXITED | WNOHANG) == 0 && info.si_pid != 0)
		forget(worker);
}

static void kill_all(const struct worker *worker)
{
	for (; worker; worker = worker->next)
		syscall(SYS_pidfd_send_signal, worker->pidfd, SIGKILL, NULL, 0);
}

static int watch_child(struct worker **workers, int epoll, pid_t child, struct error *err)
{
	struct worker *worker = calloc(1, sizeof *worker);
	if (!worker)
		abort();
	*worker = (struct worker){.next = *workers, .list = workers, .epoll = epoll};
	worker->watch = (struct watch){.ready = ended, .subject = worker};
	worker->pidfd = (int)syscall(SYS_pidfd_open, child, 0);
	int failed = worker->pidfd < 0 ? error_set(err, errno, "pidfd_open")
	                               : watch_add(epoll, worker->pidfd, EPOLLIN, &worker->watch, err);
	if (failed == 0) {
		*workers = worker;
		return 0;
	}
	if (worker->pidfd >= 0)
		close(worker->pidfd);
	free(worker);
	kill(child, SIGKILL); /* our own child, not reaped: the pid is still its */
	waitpid(child, NULL, 0);
	return -1;
}

static int fork_worker(struct worker **workers, const struct worker_launch *launch, int epoll, int socket,
                       struct error *err)
{
	pid_t parent = getpid(), child = fork();
	if (child < 0)
		return error_set(err, errno, "fork for the worker");
	if (child > 0)
		return watch_child(workers, epoll, child, err);
	struct error why;
	become_worker(launch, socket, parent, &why);
	log_write(LOG_ERROR, NULL, "the worker could not be started", LOG_FIELDS(log_text("error", why.message)));
	_exit(127);
}

int worker_start(struct worker **workers, const struct worker_launch *launch, int epoll, int *socket, struct error *err)
{
	int pair[2];
	if (launch->program < 0)
		return error_set(err, EOPNOTSUPP, "there is no program for a worker");
	kill_all(*workers);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return error_set(err, errno, "socketpair");
	int result = fork_worker(workers, launch, epoll, pair[1], err);
	close(pair[1]);
	if (result == 0)
		*socket = pair[0];
	else
		close(pair[0]);
	return result;
}

void workers_finish(struct worker **workers)
{
	kill_all(*workers);
	while (*workers)
		forget(*workers);
}
