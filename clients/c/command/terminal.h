/*
 * terminal.h: the user's own terminal, raw while somebody works in a shared one, and as it was on every way out:
 * exit(), a signal that can be caught, a crash. One at a time.
 */
#ifndef SANDBAR_COMMAND_TERMINAL_H
#define SANDBAR_COMMAND_TERMINAL_H

#include "screen.h"

/* Put FD into raw mode, as ssh does. False with errno if it is no terminal. SCREEN is what is shown in it: the modes that
 * it has when the terminal is left are undone, on stdout. It must live as long as the terminal is raw. */
bool terminal_enter(int fd, const struct screen *screen);
/* As it was before terminal_enter(). May be called at any time, also in a signal handler, and twice. */
void terminal_leave(void);
/* Stop this process as ^Z would, with the terminal as it was; returns when it goes on, raw again. */
void terminal_suspend(void);

/* The size of the terminal on any of the descriptors 0-2, within what the wire allows; 80x24 without one. */
void terminal_size(uint32_t *cols, uint32_t *rows);

#endif
