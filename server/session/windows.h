/*
 * windows.h: the size of a shared terminal: which one its policy chooses among the sizes that participants have told,
 * and how a storm of changes becomes few.
 *
 * What a participant told stands with its channel (struct channel), so that it goes with it. A size is set at most every
 * WINDOWS_PAUSE seconds, the last one always; who changes it and changes it back within a pause still makes the program
 * draw again: the terminal takes the way round over the other size.
 */
#ifndef SANDBAR_WINDOWS_H
#define SANDBAR_WINDOWS_H

#include <ev.h>
#include <stdbool.h>
#include <stdint.h>

struct process;
struct channel;

enum size_policy { SIZE_DRIVER, SIZE_SMALLEST, SIZE_LARGEST, SIZE_FIXED, SIZE_POLICIES };

#define WINDOWS_PAUSE 0.05  /* seconds: 20 changes a second */
enum { WINDOWS_TOLD = 64 }; /* most terminals of which a channel's sizes are kept */

struct window {
	uint16_t cols, rows; /* 0: none */
};

/* A size that a channel's participant told for a process. */
struct told_window {
	uint32_t process;
	struct window size;
};

struct told_windows {
	struct told_window *rows; /* owned */
	uint32_t count, next;     /* next: the one that is given up when all are taken */
};

struct windows {
	struct process *process;
	enum size_policy policy;
	struct window fixed;  /* of SIZE_FIXED */
	struct window wanted; /* what is set when the pause is over */
	struct window detour; /* another size that was wanted during the pause */
	ev_timer pause;
};

void windows_init(struct windows *windows, struct process *process);
void windows_stop(struct windows *windows); /* the terminal is gone; may be repeated */

/* The participant of CHANNEL has a window of this size. */
void windows_tell(struct windows *windows, struct channel *channel, struct window size);
/* Somebody came, left, drives or has another role, or the policy is another one. */
void windows_choose(struct windows *windows);

void told_windows_finish(struct told_windows *told);
const char *size_policy_name(enum size_policy policy);

#endif
