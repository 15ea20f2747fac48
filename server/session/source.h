/*
 * source.h: one output of a process, on its way from a descriptor into the journal.
 *
 * The loop watches the descriptor; a source that a lossless channel holds back is not watched, so that the process
 * blocks in write(2) and a hung-up descriptor does not spin.
 */
#ifndef SANDBAR_SOURCE_H
#define SANDBAR_SOURCE_H

#include "protocol/wire.h"

#include <ev.h>

struct process;

struct source {
	struct process *process;
	ev_io io;
	enum stream stream;
	int fd;          /* -1 when it has ended */
	uint64_t offset; /* bytes so far */
	uint64_t drain;  /* once REAPED: bytes that must still be read before EXITED */
	bool is_blocked; /* the last read found nothing */
};

/* Add a source to the process; FD becomes its own. -1: one that has ended already. */
void source_open(struct process *process, enum stream stream, int fd);
void source_close(struct source *source); /* without an event */

/* From now on a stream counts as drained when what stands in it at this moment was read. */
void sources_measure(struct process *process);
void sources_read(struct process *process); /* what is not drained, once each */
bool sources_are_drained(const struct process *process);
/* A terminal that has had nothing for a while counts as drained. False: it had something a moment ago. */
bool sources_give_up(struct process *process);
/* Read what stands in it at this moment, unless it is held back. */
void source_catch_up(struct source *source);
/* Nobody can write any more: what stands in the streams is read now, held back or not, and they end. */
void sources_finish(struct process *process);

/* Stop reading the process's streams, or go on. */
void process_hold(struct process *process, bool held);

#endif
