/*
 * keeper_state.h: what the files of the keeper share: keeper.c (the loop's side), requests.c (what a gateway may
 * ask) and box.c (the life of a sandbox).
 */
#ifndef SANDBAR_KEEPER_STATE_H
#define SANDBAR_KEEPER_STATE_H

#include "box.h"
#include "conversation.h"
#include "keeper.h"
#include "worker.h"

struct keeper {
	struct sandbox_host *host;
	struct box *boxes;
	size_t box_count;
	struct retry_list retries;
	struct conversation conversation;
	uint64_t epoch;
	uint64_t refused, performed; /* requests of this gateway */
	uint32_t said;               /* those that were performed, as bits */
	struct worker_launch worker_launch;
	struct worker *workers; /* the last one, and those that were killed and are not reaped yet */
	uint32_t max_sessions;
	int epoll;
	bool ready;
};

struct box *keeper_find(const struct keeper *keeper, const char *session); /* NULL if there is none */

/* Answer request ID about SESSION by KEEPER_OK. */
void keeper_answer_ok(struct keeper *keeper, uint32_t id, const char *session);
/* KEEPER_FAILED: CODE is one of table.def's. */
void keeper_answer_failed(struct keeper *keeper, uint32_t id, const char *session, const char *code,
                          const struct error *err);
/* One of table.def's codes for what the system said. */
const char *keeper_error_code(const struct error *err);

/* From box.c: the sandbox's init is gone; nothing of BOX is left (it is freed). */
void keeper_box_died(struct keeper *keeper, const struct box *box);
void keeper_box_gone(struct keeper *keeper, struct box *box);

#endif
