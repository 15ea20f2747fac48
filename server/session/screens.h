/*
 * screens.h: which SCREENs a channel is still to get, and when.
 *
 * A SCREEN tells how a terminal is now, so it can be sent only where the channel has nothing before it: at the end of
 * the journal. It is wanted by who joins, after what was skipped, and when a terminal's size rests. A channel with a
 * rate gets, instead of a terminal's output, its SCREEN so many times a second as long as it changes.
 */
#ifndef SANDBAR_SCREENS_H
#define SANDBAR_SCREENS_H

#include <ev.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct channel;
struct process;
struct session;

enum { SCREENS_RATE_MOST = 30, SCREENS_MOST = 128 /* terminals of which a channel gets screens */ };

struct screens_row {
	uint32_t process;
	uint64_t version; /* of the display, when it was sent last */
	bool is_wanted;
};

struct screens {
	struct channel *channel;
	uint32_t rate; /* a second; 0: output comes as it is */
	struct screens_row *rows;
	size_t count;
	ev_timer tick; /* runs while nothing may be sent, for the sake of the rate or of what a large screen costs */
};

void screens_init(struct screens *screens, struct channel *channel, uint32_t rate);
void screens_finish(struct screens *screens);

void screens_want(struct screens *screens, const struct process *process);
void screens_want_all(struct screens *screens);
bool screens_are_due(const struct screens *screens); /* some are wanted, and the rate allows it */
/* Whether OUTPUT of a terminal is replaced by screens. */
bool screens_replace_output(const struct screens *screens);
/* The terminal of PROCESS has changed: all who get screens are to get it. */
void screens_all_changed(const struct process *process);
/* The terminal is about to go: what was not shown of it is shown now. */
void screens_show_last(struct screens *screens, struct process *process);

/* Write wanted SCREENs to the channel's own frames, as many as have room; the channel must stand at the journal's end,
 * unless screens replace output. */
void screens_write(struct screens *screens);

#endif
