/*
 * terminal.h: the user's own terminal, raw while somebody works in a shared one, with what a program of a session set in it;
 * and as it was on every way out: exit(), a signal that can be caught, a crash. One at a time.
 */
#ifndef SANDBAR_COMMAND_TERMINAL_H
#define SANDBAR_COMMAND_TERMINAL_H

#include "screen.h"

/* SCREEN is what passes to the terminal on FD, stdout or stderr: from now on the modes that it has when the terminal is left
 * are undone there. It must live until terminal_forget(), which leaves, and forgets all of them. */
void terminal_show(int fd, const struct screen *screen);
void terminal_forget(void);

/* Put FD into raw mode, as ssh does. False with errno if it is no terminal. */
bool terminal_enter(int fd);
/* As it was before terminal_enter() and terminal_show(). May be called at any time, also in a signal handler, and twice. */
void terminal_leave(void);
/* Stop this process as ^Z would, with the terminal as it was; returns when it goes on, with the terminal as it was left. */
void terminal_suspend(void);

/* The size of the terminal on any of the descriptors 0-2, within what the wire allows; 80x24 without one. */
void terminal_size(uint32_t *cols, uint32_t *rows);

#endif
