#include "gateway.h"
#include "program.h"
#include "server/base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	INHERITED = INHERIT_LISTENERS + GATEWAY_LISTENERS, /* one more than the highest inherited descriptor */
	ASIDE = 64,                                        /* where descriptors wait until their places are free */
	GATEWAY_NICE = -5,                                 /* the sandboxes are at 0 */
};

/* The configuration as a file that nobody can change any more. */
static int seal_config(const struct gateway_config *config, struct error *err)
{
	int fd = memfd_create("gateway-config", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0)
		return error_set(err, errno, "memfd_create");
	if (write(fd, config, sizeof *config) != (ssize_t)sizeof *config ||
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) < 0) {
		error_set(err, errno, "write the gateway's configuration");
		close(fd);
		return -1;
	}
	return fd;
}

/* Put FDS to the numbers from 3 on, as inherited ones, and the program behind them; close all else. A descriptor may
 * stand where another has to go, so all step aside first. Returns the program's new number. */
static int place_descriptors(const int *fds, int count, int program, struct error *err)
{
	int aside[INHERITED];
	int places = INHERIT_KEEPER + count;
	for (int i = 0; i < count; i++)
		if ((aside[i] = fcntl(fds[i], F_DUPFD_CLOEXEC, ASIDE)) < 0)
			return error_set(err, errno, "duplicate a descriptor");
	int kept = fcntl(program, F_DUPFD_CLOEXEC, ASIDE);
	if (kept < 0)
		return error_set(err, errno, "duplicate a descriptor");
	for (int i = 0; i < count; i++)
		if (dup2(aside[i], INHERIT_KEEPER + i) < 0)
			return error_set(err, errno, "place a descriptor");
	if (dup3(kept, places, O_CLOEXEC) < 0 || syscall(SYS_close_range, places + 1, ~0u, 0) < 0)
		return error_set(err, errno, "close what is not inherited");
	return places;
}

/* stdin is empty; what it prints goes to the log. */
static int place_standard_streams(struct error *err)
{
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
		return error_set(err, errno, "open `/dev/null`");
	return 0;
}

/* SIGTERM, not SIGKILL: a gateway whose keeper is gone still has a second to write down what was lost. It is set last,
 * for a change of ids clears it. */
static int die_with_parent(pid_t parent, struct error *err)
{
	if (prctl(PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0) < 0)
		return error_set(err, errno, "PR_SET_PDEATHSIG");
	if (getppid() != parent)
		return error_set(err, 0, "the keeper is gone");
	return 0;
}

/* In the child, from the fork to the new program. A session of its own keeps a terminal's ^C away: the keeper gets
 * it, and tells the gateway. Returns only on error. */
static int become_gateway(const struct gateway_launch *launch, const int *fds, int count, pid_t parent,
                          struct error *err)
{
	char *argv[] = {(char *)(uintptr_t) "sandbard-gateway", NULL};
	sigset_t none;
	sigemptyset(&none);
	setsid();
	/* Whatever runs in the sandboxes, clients are answered: it goes before them, where this user may say so. */
	setpriority(PRIO_PROCESS, 0, GATEWAY_NICE);
	if (place_standard_streams(err) < 0)
		return -1;
	int program = place_descriptors(fds, count, launch->program, err);
	if (program < 0 || identity_assume(&launch->identity, err) < 0 || die_with_parent(parent, err) < 0)
		return -1;
	signal(SIGPIPE, SIG_DFL);
	sigprocmask(SIG_SETMASK, &none, NULL);
	return program_execute(program, argv, err);
}

static int fork_gateway(struct gateway *gateway, const struct gateway_launch *launch, const int *fds, int count,
                        struct error *err)
{
	pid_t parent = getpid();
	pid_t child = fork();
	if (child < 0)
		return error_set(err, errno, "fork for the gateway");
	if (child == 0) {
		struct error why;
		become_gateway(launch, fds, count, parent, &why);
		log_write(LOG_ERROR, NULL, "the gateway could not be started", LOG_FIELDS(log_text("error", why.message)));
		_exit(127);
	}
	gateway->pidfd = (int)syscall(SYS_pidfd_open, child, 0);
	if (gateway->pidfd >= 0)
		return 0;
	error_set(err, errno, "pidfd_open");
	kill(child, SIGKILL); /* our own child, not reaped: the pid is still its */
	waitpid(child, NULL, 0);
	return -1;
}

int gateway_hand_tls(const struct gateway *gateway, const struct gateway_launch *launch, struct error *err)
{
	return gateway->pidfd < 0 ? 0 : tls_files_send(&launch->tls, gateway->news, err);
}

/* Fork with the gateway's ends of the sockets, as inherit.h numbers the descriptors. */
static int start_with(struct gateway *gateway, const struct gateway_launch *launch, int keeper, int news,
                      struct error *err)
{
	int config = seal_config(&launch->config, err);
	if (config < 0)
		return -1;
	int fds[INHERITED] = {keeper,         launch->sessions,  launch->key, config,
	                      launch->tokens, launch->templates, news,        launch->pages};
	int count = INHERIT_LISTENERS - INHERIT_KEEPER;
	for (uint32_t i = 0; i < launch->config.listeners; i++)
		fds[count++] = launch->listeners[i];
	int result = fork_gateway(gateway, launch, fds, count, err);
	close(config);
	return result;
}

static void close_pair(const int pair[2])
{
	close(pair[0]);
	close(pair[1]);
}

int gateway_start(struct gateway *gateway, struct gateway_launch *launch, int *socket, struct error *err)
{
	int pair[2], news[2];
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) < 0)
		return error_set(err, errno, "socketpair");
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, news) < 0) {
		error_set(err, errno, "socketpair");
		close_pair(pair);
		return -1;
	}
	launch->config.epoch++;
	if ((launch->config.tls && tls_files_send(&launch->tls, news[0], err) < 0) ||
	    start_with(gateway, launch, pair[1], news[1], err) < 0) {
		close_pair(pair);
		close_pair(news);
		return -1;
	}
	close(pair[1]);
	close(news[1]);
	*socket = pair[0];
	gateway->news = news[0];
	return 0;
}

void gateway_signal(const struct gateway *gateway, int signo)
{
	if (gateway->pidfd >= 0)
		syscall(SYS_pidfd_send_signal, gateway->pidfd, signo, NULL, 0);
}

/* siginfo's code and status, as waitpid(2) would have told them. */
static int wait_status_of(const siginfo_t *info)
{
	if (info->si_code == CLD_EXITED)
		return W_EXITCODE(info->si_status, 0);
	return info->si_status | (info->si_code == CLD_DUMPED ? WCOREFLAG : 0);
}

int gateway_reap(struct gateway *gateway)
{
	siginfo_t info = {0};
	if (waitid(P_PIDFD, (id_t)gateway->pidfd, &info, WEXITED | WNOHANG) < 0 || info.si_pid == 0)
		return -1;
	close(gateway->pidfd);
	close(gateway->news);
	gateway->pidfd = gateway->news = -1;
	return wait_status_of(&info);
}
