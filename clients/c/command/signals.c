#include "signals.h"

#include "clients/c/failure.h"
#include "terminal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

static struct {
	signals_callback callback;
	void *user;
} watcher;

static void on_signal(struct sandbar *sandbar, int fd, unsigned ready, void *user)
{
	struct signalfd_siginfo info;

	(void)sandbar, (void)ready, (void)user;
	while (read(fd, &info, sizeof(info)) == sizeof(info))
		watcher.callback((int)info.ssi_signo, watcher.user);
}

int signals_watch(struct sandbar *sandbar, const int *numbers, signals_callback callback, void *user,
                  struct sandbar_error *error)
{
	sigset_t set;

	watcher.callback = callback;
	watcher.user = user;
	sigemptyset(&set);
	for (; *numbers; numbers++)
		sigaddset(&set, *numbers);
	sigprocmask(SIG_BLOCK, &set, NULL);
	int fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	if (fd < 0)
		return failure_set(error, "system", "signalfd: %s", strerror(errno));
	return sandbar_watch_fd(sandbar, fd, SANDBAR_READABLE, on_signal, NULL, error);
}

void signals_unblock(void)
{
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

void signals_die(int number)
{
	terminal_leave();
	signal(number, SIG_DFL);
	signals_unblock();
	raise(number);
	_exit(128 + number);
}

const char *signals_name(int number)
{
	return sigabbrev_np(number);
}
