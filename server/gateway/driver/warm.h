/*
 * warm.h: sandboxes that stand ready before anybody asks for one: built whole, under the id that their session will have,
 * with nothing of anybody's in them. Which, and how many, the operator says for each template.
 *
 * They belong to the driver like any other. One is made at a time, a moment after one was taken, so that making it does not
 * compete with what runs in that. What cannot be made is tried again later, each time after twice as long. A gateway
 * that dies leaves them to the next, which knows of no session with such an id and lets them be destroyed.
 */
#ifndef SANDBAR_WARM_H
#define SANDBAR_WARM_H

#include "sandbox/driver.h"
#include "server/base/template.h"

#include <ev.h>
#include <sys/queue.h>

struct warm_kind {            /* sandboxes that are all alike */
	struct sandbox_spec spec; /* without an id */
	unsigned wanted, made;    /* made: ready, and being made */
};

struct warm { /* one of them */
	LIST_ENTRY(warm) link;
	struct warm_pool *pool;
	struct warm_kind *kind;
	struct sandbox *sandbox;
	bool is_ready; /* it was not taken yet, and lives */
};

struct warm_pool {
	struct driver *driver;
	struct ev_loop *loop;
	ev_timer next;
	ev_tstamp pause; /* until what failed is tried again */
	struct warm_kind kinds[TEMPLATES_MOST + 1];
	size_t kind_count;
	LIST_HEAD(, warm) all;
};

void warm_init(struct warm_pool *pool, struct driver *driver, struct ev_loop *loop);
void warm_finish(struct warm_pool *pool); /* forgets them; the sandboxes are the driver's */

/* Keep WANTED sandboxes like SPEC ready. Over WARM_MOST in all, as many as there may be. */
void warm_keep(struct warm_pool *pool, const struct sandbox_spec *spec, unsigned wanted);
/* Make no more, and destroy those that are there. */
void warm_stop(struct warm_pool *pool);

/* The id of one that is ready and like SPEC, written there. False: none is. */
bool warm_offer(struct warm_pool *pool, struct sandbox_spec *spec);
/* Take the one with this id: it is a session's from now on. NULL: there is none. */
struct sandbox *warm_take(struct warm_pool *pool, const char *session);
size_t warm_count(const struct warm_pool *pool); /* ready ones */

#endif
