/*
 * keeper.h: the privileged side as a library: requests of one gateway at a time, answered by means of sandbox/. The
 * sandboxes of a gateway that is gone wait for the next one.
 *
 * It never blocks but for the making of a sandbox (a few milliseconds). The caller's loop waits for keeper_fd() and
 * keeper_deadline(), and calls keeper_run(). What belongs to the programs (listeners, the gateway's process, signals)
 * is not here but in supervisor.h.
 */
#ifndef SANDBAR_KEEPER_H
#define SANDBAR_KEEPER_H

#include "sandbox/sandbox.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct keeper;
struct worker_launch;

/* HOST is borrowed. MAX_SESSIONS at once. NULL on error. */
struct keeper *keeper_create(struct sandbox_host *host, uint32_t max_sessions, struct error *err);
/* How to start the gateway's workers; before this none can be started. */
void keeper_set_worker(struct keeper *keeper, const struct worker_launch *launch);
void keeper_destroy(struct keeper *keeper); /* NULL is allowed; asserts that no sandbox is left */

int keeper_fd(const struct keeper *keeper);            /* readable when there is something to do; borrowed */
uint64_t keeper_deadline(const struct keeper *keeper); /* CLOCK_MONOTONIC ns; UINT64_MAX = none */
void keeper_run(struct keeper *keeper);

/* Begin to serve the gateway at the other end of SOCKET (SEQPACKET, non-blocking; the keeper's from here on). EPOCH
 * rises with each gateway. No other gateway may be attached. */
int keeper_attach(struct keeper *keeper, int socket, uint64_t epoch, struct error *err);
/* The gateway is gone: its conversation ends. Its sandboxes live on; what it had asked for is still done. */
void keeper_detach(struct keeper *keeper);
/* Every sandbox ends, which takes until keeper_boxes() is 0. */
void keeper_end_boxes(struct keeper *keeper);
bool keeper_is_ready(const struct keeper *keeper);    /* the attached gateway said that it serves */
bool keeper_is_attached(const struct keeper *keeper); /* false too when the gateway closed its end */
uint64_t keeper_performed(
	const struct keeper *keeper); /* requests of the attached gateway, which it sends at least every few seconds */
size_t keeper_boxes(const struct keeper *keeper); /* sandboxes of which something is left */

/* One message of the gateway, of any size and content; keeper_run() calls it. */
void keeper_handle(struct keeper *keeper, const void *bytes, size_t size);

#endif
