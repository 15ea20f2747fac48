/*
 * interrupt.h: the characters that make a terminal send a signal (termios(3), ISIG), where its program does not read.
 *
 * A full terminal takes no byte (write(2) says EAGAIN), or takes it and does not look at it: its line discipline holds 4,095
 * bytes, and what comes behind waits before it. Then the signal is raised directly (ioctl_tty(2), TIOCSIG). A character that
 * was looked at shows: it is echoed, or ends or wakes something that writes.
 */
#ifndef SANDBAR_INTERRUPT_H
#define SANDBAR_INTERRUPT_H

#include <ev.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct process;

/* The signal that BYTE alone makes the terminal FD send now; 0: none. */
int interrupt_of(int fd, uint8_t byte);
bool interrupt_raise(int fd, int number);

/* A character that was written, and may not be looked at; of a terminal's input. */
struct interrupt {
	struct process *process;
	ev_timer timer;
	uint64_t typed; /* bytes since a character was looked at */
	uint64_t shown; /* the terminal's output when it was written */
	int number;
};

void interrupt_init(struct interrupt *interrupt, struct process *process);
void interrupt_finish(struct interrupt *interrupt); /* may be repeated */
/* LENGTH bytes were written to the terminal, in one message of MESSAGE bytes. */
void interrupt_typed(struct interrupt *interrupt, const uint8_t *bytes, size_t length, size_t message);

#endif
