/*
 * clocks.h: the timers of a process: its wall, idle and cpu clocks, the grace between TERM and KILL, and how often it is
 * looked whether its tree is empty. None has a default that ends a running command.
 */
#ifndef SANDBAR_CLOCKS_H
#define SANDBAR_CLOCKS_H

#include <stdint.h>

struct process;

void clocks_init(struct process *process);
void clocks_start(struct process *process);  /* it runs: what is left of its clocks, since its start */
void clocks_stop(struct process *process);   /* all, but the one that waits for its client while descendants live */
void clocks_output(struct process *process); /* it wrote something */
void clocks_reaped(struct process *process); /* its leader is done: wall and idle clock stop */
void clocks_grace(struct process *process,
                  uint64_t grace_ms);           /* TERM was sent: KILL follows, unless the tree is empty */
void clocks_no_grace(struct process *process);  /* KILL was sent */
void clocks_empty(struct process *process);     /* nothing of its tree lives */
void clocks_quiet(struct process *process);     /* its terminal counts as drained when it is silent for a while */
void clocks_survivors(struct process *process); /* look now and then whether what it left behind lives */
void clocks_forgotten(struct process *process);

#endif
