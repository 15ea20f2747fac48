/*
 * waker.h: when those who are attached to a session hear that there is more in its journal.
 *
 * At once, but for output where many are attached: there each telling costs a write to each of them, however little it is,
 * and a terminal hands out its output in small pieces. So output that comes soon after some that was told waits for more of it,
 * a few milliseconds at most, counted from when it came: the round of writes before it may have taken longer than that.
 * A lossless channel is always told at once: it may be what its process waits for.
 */
#ifndef SANDBAR_WAKER_H
#define SANDBAR_WAKER_H

#include <ev.h>
#include <stddef.h>

struct session;

struct waker {
	ev_timer later;  /* active: some are not told yet */
	ev_tstamp told;  /* when all were told last */
	ev_tstamp since; /* when the first output came that is not told yet */
	size_t untold;   /* its bytes, and of what followed */
	size_t audience; /* how many were told */
};

void waker_init(struct waker *waker, struct session *session);
void waker_stop(struct session *session);

/* Output of BYTES was appended. */
void waker_output(struct session *session, size_t bytes);
/* Tell all, at once. */
void waker_tell(struct session *session);

#endif
