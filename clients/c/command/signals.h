/*
 * signals.h: signals as events of the loop.
 */
#ifndef SANDBAR_COMMAND_SIGNALS_H
#define SANDBAR_COMMAND_SIGNALS_H

#include "clients/c/sandbar.h"

#include <signal.h>

typedef void (*signals_callback)(int number, void *user);

/* From now on the signals NUMBERS (ended by 0) call CALLBACK from the loop, instead of what they did. One set for the
 * process. The descriptor lives as long as the process. */
int signals_watch(struct sandbar *sandbar, const int *numbers, signals_callback callback, void *user,
                  struct sandbar_error *error);
/* As if none were watched: before executing another program, or dying by one. */
void signals_unblock(void);
/* End this process by NUMBER, as if it had not been caught. Does not return. */
_Noreturn void signals_die(int number);
/* "INT", or NULL for one that has no name here. */
const char *signals_name(int number);

#endif
