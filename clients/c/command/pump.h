/*
 * pump.h: stdin of this command into a process of a session, as far as there is room: what was read and not yet
 * acknowledged is bounded by the wire's window.
 */
#ifndef SANDBAR_COMMAND_PUMP_H
#define SANDBAR_COMMAND_PUMP_H

#include "clients/c/sandbar.h"
#include "detach_key.h"

struct pump {
	struct sandbar_channel *channel; /* NULL: not started, or over */
	uint32_t process;
	bool is_over;    /* stdin has ended, or nobody wants it */
	bool passes_eof; /* the end of stdin is passed on */
	bool has_detach_key;
	struct detach_key detach_key;
	void (*on_command)(int command, void *user); /* of the key; after a LEAVE nothing more is read */
	/* Whether the program may be sent what was typed, BYTES; NULL: always. Else it is dropped. */
	bool (*may_type)(const uint8_t *bytes, size_t length, void *user);
	void *user;
};

/* Begin to read; the fields below `process` are set by the caller before. */
void pump_start(struct pump *pump, struct sandbar_channel *channel, uint32_t process);
/* There may be room again. */
void pump_update(struct pump *pump);
/* Read no more. */
void pump_stop(struct pump *pump);

#endif
