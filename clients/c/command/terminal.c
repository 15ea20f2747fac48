#include "terminal.h"

#include "protocol/wire.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

enum { STANDARD_COLS = 80, STANDARD_ROWS = 24 };

/* Ends of the process that no signalfd turns into an event: the terminal must be restored by the handler itself. */
static const int DEADLY[] = {SIGSEGV, SIGBUS,    SIGFPE,  SIGILL,  SIGABRT, SIGSYS, SIGTRAP, SIGALRM,  SIGUSR1,
                             SIGUSR2, SIGVTALRM, SIGPROF, SIGXCPU, SIGXFSZ, SIGIO,  SIGPWR,  SIGSTKFLT};

/* Ends that some commands turn into events, some leave as they are, and nohup ignores. */
static const int ENDING[] = {SIGINT, SIGQUIT, SIGHUP, SIGTERM, SIGPIPE};

enum { SHOWN = 2 }; /* stdout and stderr */

static struct {
	int fd;
	volatile sig_atomic_t is_raw;
	bool is_caught;
	struct termios before, raw;
	struct {
		int fd;
		const struct screen *screen;
		volatile sig_atomic_t is_left;
	} shown[SHOWN];
} terminal = {.fd = -1};

/* A process in the background is stopped by SIGTTOU when it sets a terminal, or writes to one that does not want that; ours
 * only wants to leave it in order. */
static sigset_t block_background(void)
{
	sigset_t blocked, before;

	sigemptyset(&blocked);
	sigaddset(&blocked, SIGTTOU);
	sigprocmask(SIG_BLOCK, &blocked, &before);
	return before;
}

static void set_attributes(const struct termios *attributes)
{
	sigset_t before = block_background();

	tcsetattr(terminal.fd, TCSADRAIN, attributes);
	sigprocmask(SIG_SETMASK, &before, NULL);
}

/* LEAVES: what was set is undone; else it is set again. */
static void write_modes(bool leaves)
{
	char bytes[SCREEN_RESTORE_BYTES];
	sigset_t before = block_background();

	for (size_t i = 0; i < SHOWN; i++) {
		const struct screen *screen = terminal.shown[i].screen;
		if (!screen || leaves == (terminal.shown[i].is_left != 0))
			continue;
		terminal.shown[i].is_left = leaves;
		size_t length = leaves ? screen_restore(screen, bytes) : screen_again(screen, bytes);
		if (length)
			(void)!write(terminal.shown[i].fd, bytes, length);
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
}

void terminal_leave(void)
{
	write_modes(true);
	if (!terminal.is_raw)
		return;
	terminal.is_raw = 0;
	set_attributes(&terminal.before);
}

static void on_deadly(int number)
{
	terminal_leave();
	signal(number, SIG_DFL);
	raise(number);
}

static void on_stop(int number);

static void catch_unless_ignored(int number, void (*handler)(int number), int flags)
{
	struct sigaction action = {.sa_handler = handler, .sa_flags = flags}, before;

	if (sigaction(number, NULL, &before) == 0 && before.sa_handler == SIG_DFL)
		sigaction(number, &action, NULL);
}

static void catch_stop(void)
{
	catch_unless_ignored(SIGTSTP, on_stop, (int)(SA_NODEFER | SA_RESTART));
}

/* ^Z, in a command that does not turn it into an event. */
static void on_stop(int number)
{
	int errnum = errno;

	terminal_leave();
	signal(number, SIG_DFL);
	raise(number);
	catch_stop();
	write_modes(false);
	errno = errnum;
}

static void catch_ends(void)
{
	struct sigaction action = {.sa_handler = on_deadly, .sa_flags = (int)(SA_NODEFER | SA_RESETHAND)};

	if (terminal.is_caught)
		return;
	terminal.is_caught = true;
	for (size_t i = 0; i < sizeof(DEADLY) / sizeof(DEADLY[0]); i++)
		sigaction(DEADLY[i], &action, NULL);
	for (size_t i = 0; i < sizeof(ENDING) / sizeof(ENDING[0]); i++)
		catch_unless_ignored(ENDING[i], on_deadly, action.sa_flags);
	catch_stop();
	atexit(terminal_leave);
}

void terminal_show(int fd, const struct screen *screen)
{
	size_t i = terminal.shown[0].screen ? 1 : 0;

	catch_ends();
	terminal.shown[i].fd = fd;
	terminal.shown[i].is_left = 0;
	terminal.shown[i].screen = screen;
}

void terminal_forget(void)
{
	terminal_leave();
	for (size_t i = 0; i < SHOWN; i++)
		terminal.shown[i].screen = NULL;
}

bool terminal_enter(int fd)
{
	if (tcgetattr(fd, &terminal.before) < 0)
		return false;
	catch_ends();
	terminal.fd = fd;
	terminal.raw = terminal.before;
	cfmakeraw(&terminal.raw);
	terminal.raw.c_cc[VMIN] = 1;
	terminal.raw.c_cc[VTIME] = 0;
	terminal.is_raw = 1;
	set_attributes(&terminal.raw);
	return true;
}

void terminal_suspend(void)
{
	bool was_raw = terminal.is_raw != 0;

	terminal_leave();
	raise(SIGSTOP);
	if (was_raw && tcgetattr(terminal.fd, &terminal.before) < 0)
		return;
	if (was_raw) {
		terminal.is_raw = 1;
		set_attributes(&terminal.raw);
	}
	write_modes(false);
}

static uint32_t within(unsigned short size, uint32_t standard)
{
	if (size == 0)
		return standard;
	return size > LIMIT_TERMINAL_SIDE ? (uint32_t)LIMIT_TERMINAL_SIDE : size;
}

void terminal_size(uint32_t *cols, uint32_t *rows)
{
	struct winsize size = {0};

	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (ioctl(fd, TIOCGWINSZ, &size) == 0)
			break;
	*cols = within(size.ws_col, STANDARD_COLS);
	*rows = within(size.ws_row, STANDARD_ROWS);
}
