/*
 * box.h: one sandbox as the keeper holds it: its life as a table of states and events, and the leaves (a cgroup for
 * each process) that the gateway asked for.
 *
 * A box belongs to the gateway that created or adopted it, and outlives it. It is freed when nothing of it is left, and
 * not before.
 */
#ifndef SANDBAR_BOX_H
#define SANDBAR_BOX_H

#include "request.h"
#include "retry.h"
#include "sandbox/sandbox.h"
#include "watch.h"

enum box_state {
	BOX_LIVE,
	BOX_LOST,   /* its init is gone, and the gateway was told; it waits for DESTROY */
	BOX_ENDING, /* killed; until nothing of it is left */
	BOX_STATES
};

enum box_event {
	BOX_INIT_GONE, /* init's pidfd is readable */
	BOX_END,       /* DESTROY, or nobody has adopted it, or the server stops */
	BOX_EVENTS
};

/* A leaf is found by its number until it is dropped; then it stays until nothing lives in it. */
struct leaf {
	struct leaf *next;
	struct box *box;
	struct retry retry;
	struct watch watch; /* of its events, where `watched` */
	uint32_t process;
	uint32_t kill_id; /* the open KILL request, where kill_open */
	bool killing;     /* until it is empty, whether or not anybody waits for that */
	bool was_killed;  /* and is not for use any more */
	bool kill_open, dropped, watched;
};

struct keeper;

enum { BOX_LEAVES = 4096 /* at once, with those that are dropped and not empty yet */ };

struct box {
	struct box *next;
	struct keeper *keeper;
	struct sandbox_box *sandbox;
	struct leaf *leaves; /* the newest first */
	struct retry retry;  /* while BOX_ENDING */
	struct watch watch;  /* of init's pidfd, where `watched` */
	enum box_state state;
	int init_socket; /* a duplicate of the gateway's end, so that init does not notice when a gateway goes */
	uint64_t epoch;  /* of the gateway that it belongs to */
	uint32_t leaf_count;
	uint32_t destroy_id; /* the open DESTROY request, where destroy_open */
	bool destroy_open, watched;
	char session[SESSION_ID_LENGTH];
};

/* Make the sandbox of SPEC. The caller puts it into the keeper's list. NULL on error. */
struct box *box_create(struct keeper *keeper, const struct sandbox_spec *spec, struct error *err);
void box_handle(struct box *box, enum box_event event);
/* The gateway is gone: nobody waits for an answer any more. */
void box_orphan(struct box *box);

/* Make the leaf of PROCESS, or open it again. Returns the number of FDS (the caller's), or -1. */
int box_leaf_create(struct box *box, uint32_t process, int fds[8], struct error *err);
struct leaf *box_leaf_find(const struct box *box, uint32_t process); /* not a dropped one */
/* Kill what is in it, until it is empty, and answer request ID then. */
void leaf_kill(struct leaf *leaf, uint32_t id);
/* Remove it as soon as it is empty. */
void leaf_drop(struct leaf *leaf);

#endif
