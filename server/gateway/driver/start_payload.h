/*
 * start_payload.h: arguments, environment and directory of a process to start, as a sealed memfd for init.
 */
#ifndef SANDBAR_START_PAYLOAD_H
#define SANDBAR_START_PAYLOAD_H

#include "sandbox/driver.h"

struct start_payload {
	int fd; /* read-only in effect: sealed; close-on-exec */
	uint32_t argc, envc;
};

/* -1: no memory, or (E2BIG) more than INIT_PAYLOAD_BYTES. */
int start_payload_create(struct start_payload *payload, const struct process_spec *spec, struct error *err);

#endif
