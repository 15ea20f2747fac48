#include "terminal.h"

#include "protocol/wire.h"

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

static struct {
	int fd;
	volatile sig_atomic_t is_raw;
	const struct screen *screen;
	struct termios before, raw;
} terminal = {.fd = -1};

/* A process in the background is stopped by SIGTTOU when it sets a terminal; ours only wants to leave it in order. */
static void set_attributes(const struct termios *attributes)
{
	sigset_t blocked, before;

	sigemptyset(&blocked);
	sigaddset(&blocked, SIGTTOU);
	sigprocmask(SIG_BLOCK, &blocked, &before);
	tcsetattr(terminal.fd, TCSADRAIN, attributes);
	sigprocmask(SIG_SETMASK, &before, NULL);
}

static void write_modes(size_t (*modes)(const struct screen *screen, char out[SCREEN_RESTORE_BYTES]))
{
	char bytes[SCREEN_RESTORE_BYTES];

	if (isatty(STDOUT_FILENO))
		(void)!write(STDOUT_FILENO, bytes, modes(terminal.screen, bytes));
}

void terminal_leave(void)
{
	if (!terminal.is_raw)
		return;
	terminal.is_raw = 0;
	write_modes(screen_restore);
	set_attributes(&terminal.before);
}

static void on_deadly(int number)
{
	terminal_leave();
	signal(number, SIG_DFL);
	raise(number);
}

static void catch_deadly(void)
{
	struct sigaction action = {.sa_handler = on_deadly, .sa_flags = (int)(SA_NODEFER | SA_RESETHAND)};

	for (size_t i = 0; i < sizeof(DEADLY) / sizeof(DEADLY[0]); i++)
		sigaction(DEADLY[i], &action, NULL);
	atexit(terminal_leave);
}

bool terminal_enter(int fd, const struct screen *screen)
{
	if (tcgetattr(fd, &terminal.before) < 0)
		return false;
	if (terminal.fd < 0)
		catch_deadly();
	terminal.fd = fd;
	terminal.screen = screen;
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
	if (!was_raw || tcgetattr(terminal.fd, &terminal.before) < 0)
		return;
	terminal.is_raw = 1;
	set_attributes(&terminal.raw);
	write_modes(screen_again);
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
