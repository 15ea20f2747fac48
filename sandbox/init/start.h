/*
 * start.h: START, from the payload to the fork.
 */
#ifndef SANDBAR_INIT_START_H
#define SANDBAR_INIT_START_H

#include "request.h"

/* Start what REQUEST says (its form was checked). Returns 0: the answer comes from the new row of the table; or the
 * errno with which it is refused. */
int start_process(struct init *init, const struct request *request);

#endif
