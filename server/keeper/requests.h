/*
 * requests.h: what a gateway may ask, as one table: who is asked about, in which state, and by which function.
 */
#ifndef SANDBAR_REQUESTS_H
#define SANDBAR_REQUESTS_H

#include "keeper_state.h"

/* Why REQUEST is not allowed (static), or NULL. *BOX becomes the sandbox it is about, or NULL where it is about none. */
const char *request_refusal(const struct keeper *keeper, const struct keeper_request *request, struct box **box);

/* Do what an allowed request asks; it is answered now or later, exactly once. */
void request_perform(struct keeper *keeper, const struct keeper_request *request, struct box *box);

/* "create", or "unknown". */
const char *request_name(uint32_t type);

#endif
