#include "interrupt.h"

#include "session.h"

#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

enum { ALMOST_FULL = 4000 }; /* bytes that a program may have left unread */
static const ev_tstamp shows_s = 0.1;

int interrupt_of(int fd, uint8_t byte)
{
	struct termios mode;
	if (tcgetattr(fd, &mode) < 0 || !(mode.c_lflag & ISIG))
		return 0;
	const struct {
		uint8_t character;
		int number;
	} rows[] = {{mode.c_cc[VINTR], SIGINT}, {mode.c_cc[VQUIT], SIGQUIT}, {mode.c_cc[VSUSP], SIGTSTP}};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (byte == rows[i].character && byte != _POSIX_VDISABLE)
			return rows[i].number;
	return 0;
}

bool interrupt_raise(int fd, int number)
{
	return ioctl(fd, TIOCSIG, number) == 0;
}

static bool has_shown(const struct interrupt *interrupt)
{
	const struct source *terminal = &interrupt->process->sources[0];
	struct pollfd look = {.fd = terminal->fd, .events = POLLIN};
	return terminal->fd < 0 || terminal->offset != interrupt->shown || poll(&look, 1, 0) != 0;
}

static void on_time(struct ev_loop *loop, ev_timer *timer, int events)
{
	(void)loop, (void)events;
	struct interrupt *interrupt = timer->data;
	if (interrupt->process->state != PROCESS_RUNNING || has_shown(interrupt))
		interrupt->typed = 0;
	else
		interrupt_raise(interrupt->process->sources[0].fd, interrupt->number);
}

void interrupt_init(struct interrupt *interrupt, struct process *process)
{
	*interrupt = (struct interrupt){.process = process};
	ev_timer_init(&interrupt->timer, on_time, 0., 0.);
	interrupt->timer.data = interrupt;
}

void interrupt_finish(struct interrupt *interrupt)
{
	ev_timer_stop(interrupt->process->session->home->loop, &interrupt->timer);
}

void interrupt_typed(struct interrupt *interrupt, const uint8_t *bytes, size_t length, size_t message)
{
	const struct source *terminal = &interrupt->process->sources[0];
	struct ev_loop *loop = interrupt->process->session->home->loop;
	interrupt->typed += length;
	int number = message == 1 && interrupt->typed >= ALMOST_FULL ? interrupt_of(terminal->fd, bytes[0]) : 0;
	if (number == 0)
		return;
	interrupt->number = number;
	interrupt->shown = terminal->offset;
	ev_timer_stop(loop, &interrupt->timer);
	ev_timer_set(&interrupt->timer, shows_s, 0.);
	ev_timer_start(loop, &interrupt->timer);
}
