/*
 * activation.h: listening sockets that systemd, or who does as it does, hands over at the start: LISTEN_PID and
 * LISTEN_FDS (sd_listen_fds(3)).
 */
#ifndef SANDBAR_ACTIVATION_H
#define SANDBAR_ACTIVATION_H

#include "listener.h"

/* Take at most MOST of them: the sockets, made non-blocking, and where each listens. Returns how many there are; 0: none
 * were handed over. -1: one is no listening TCP socket. */
int activation_take(int *fds, struct listen_address *addresses, int most, struct error *err);

#endif
