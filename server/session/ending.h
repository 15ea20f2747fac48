/*
 * ending.h: how a process ended, as EXITED and process.wait tell it. A value type.
 */
#ifndef SANDBAR_ENDING_H
#define SANDBAR_ENDING_H

#include "protocol/wire.h"
#include "protocol/writer.h"
#include "sandbox/driver.h"

enum { ENDING_TEXT_BYTES = 200, PROCESS_STREAMS = 2 };

struct stream_offset {
	enum stream stream;
	uint64_t offset; /* bytes so far */
	bool open;       /* somebody still holds it */
};

struct ending {
	enum reason reason;
	int exit_code;                   /* 0 ... 255; -1 where it cannot be known */
	const char *signal;              /* "SIGKILL", or NULL; static */
	const char *control;             /* what did it, or NULL; static */
	char message[ENDING_TEXT_BYTES]; /* why it could not be started, or "" */
	uint64_t wall_us;
	struct process_usage usage;
};

/* What the server itself did to the process; it goes before what the wait status says. */
struct intervention {
	enum reason reason; /* REASON_NONE: nothing */
	const char *control;
	uint64_t signals; /* bit n: a client asked for signal n */
};

/* Fill exit_code, signal, reason and control from waitpid(2)'s status, the kernel's counters and the intervention. */
void ending_decide(struct ending *ending, int wait_status, const struct intervention *intervention);

/* The map of PROTOCOL.md §4.2. */
void ending_write(struct writer *writer, const struct ending *ending, const struct stream_offset *streams,
                  size_t count);
/* {stdout: n, stderr: n} or {tty: n} */
void offsets_write(struct writer *writer, const struct stream_offset *streams, size_t count);

/* The number of the signal called NAME ("INT", "SIGINT"), or 0. */
int signal_number(const char *name, size_t length);
/* "SIGINT"; a static text for every number that wait status can hold. */
const char *signal_name(int signo);

#endif
