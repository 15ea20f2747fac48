/*
 * request.h: what the gateway may ask of the keeper, over a SOCK_SEQPACKET pair. Fixed structs: the keeper never
 * parses anything. Each request is answered by exactly one reply with its `id`; replies may come in another order,
 * but what is open for a sandbox is answered before its DESTROY. A request that is not allowed now, or malformed, is
 * answered by KEEPER_REFUSED (with id 0 where its size is wrong), and counts against the gateway.
 *
 * A sandbox is the gateway's that created or adopted it, and no other gateway can ask about it. What a gateway that
 * died had asked for is done all the same; only the answers are dropped. A sandbox that it was destroying is not
 * handed on.
 */
#ifndef SANDBAR_KEEPER_REQUEST_H
#define SANDBAR_KEEPER_REQUEST_H

#include "sandbox/driver.h"

enum keeper_request_type {
	KEEPER_CREATE = 1, /* reply: struct keeper_created, with the descriptor of init's socket */
	KEEPER_DESTROY,    /* reply when nothing of the sandbox is left */
	KEEPER_LEAF,       /* made, or opened again; reply: its cgroup.procs descriptors (0 without cgroups) */
	KEEPER_KILL,       /* a leaf; reply when it is empty. One at a time for a leaf */
	KEEPER_DROP_LEAF, /* the process is forgotten: remove its leaf as soon as it is empty, without killing; reply at once */
	KEEPER_USAGE,     /* of a leaf */
	KEEPER_FREEZE, /* `process` = 1 freeze, 0 thaw; the whole sandbox */
	KEEPER_READY,  /* the gateway serves; once. Sandboxes that it has not adopted by now are destroyed */
	/* The first request, or none: hand over what an earlier gateway left. Before its one reply (`process` = how many
	 * sandboxes) come, with its id, KEEPER_FOUND for each, followed by a KEEPER_HAS_LEAF for each leaf of it. */
	KEEPER_ADOPT,
	KEEPER_ALIVE,   /* the gateway's loop turns: said every few seconds, so that one that hangs is found out */
	KEEPER_WORKER,  /* a worker, in the place of the last one; reply: the descriptor of its socket */
	KEEPER_MEASURE, /* the whole sandbox; reply: struct keeper_measured */
	KEEPER_REQUEST_TYPES
};

enum keeper_reply_status {
	KEEPER_OK = 0,
	KEEPER_FAILED,
	KEEPER_REFUSED,
	KEEPER_FOUND,    /* struct keeper_created, with the descriptor of init's socket; more follows */
	KEEPER_HAS_LEAF, /* the sandbox found last has a leaf for `process`; more follows */
};

struct keeper_request {
	uint32_t type;
	uint32_t id;
	char session[SESSION_ID_LENGTH]; /* not ended by NUL */
	uint32_t process;
	uint32_t required_layers;
	struct sandbox_limits limits; /* CREATE */
};

struct keeper_reply {
	uint32_t id;
	uint32_t status; /* enum keeper_reply_status; 100 = an event: the sandbox `session` died */
	char session[SESSION_ID_LENGTH];
	int32_t errnum;
	uint32_t process;
	struct process_usage usage;
	char code[16];     /* of FAILED: one of table.def's codes; ended by NUL */
	char message[200]; /* ended by NUL */
};

/* The answer to CREATE when its status is KEEPER_OK, and KEEPER_FOUND. Every other answer but the next is a bare
 * keeper_reply. */
struct keeper_created {
	struct keeper_reply reply;
	uint64_t epoch;             /* for init's SYNC */
	struct layer_report layers; /* that the sandbox has */
};

/* The answer to MEASURE when its status is KEEPER_OK. */
struct keeper_measured {
	struct keeper_reply reply;
	struct sandbox_usage usage;
};

enum { KEEPER_EVENT_DIED = 100 };

_Static_assert(sizeof(struct keeper_request) == 96, "the form of a request is fixed");
_Static_assert(sizeof(struct keeper_reply) == 288, "the form of a reply is fixed");

#endif
