/*
 * channel.h: one client's subscription to one session: a cursor into its history, a credit and a mode.
 *
 * A channel belongs to its session; the door that opened it holds a pointer until it calls channel_detach(). The door
 * asks channel_next() for the next message whenever its connection can take one, and detaches when it is over.
 */
#ifndef SANDBAR_CHANNEL_H
#define SANDBAR_CHANNEL_H

#include "access.h"
#include "history.h"
#include "input.h"
#include "participant.h"
#include "record.h"
#include "screens.h"
#include "windows.h"
#include "protocol/frame.h"
#include "protocol/pace.h"
#include "protocol/writer.h"

#include <sys/queue.h>

struct session;
struct process;
struct channel;

enum channel_mode { CHANNEL_LIVE, CHANNEL_LOSSLESS };

enum {
	CHANNEL_ROOM = 32, /* writable bytes before a message, for the door's own header */
	/* Most bytes of frames that are put together: two OUTPUTs of the largest size, which a flood is made of, fit. */
	CHANNEL_MESSAGE = 2 * (JOURNAL_READ + OUTPUT_HEADER_BYTES),
	LOSSLESS_PIPE_BYTES = 1024 * 1024, /* unsent, after which a process with pipes is held */
	LOSSLESS_TTY_BYTES = 64 * 1024, /* … a terminal; less where the client grants credit and draws slowly (pace.h) */
	LIVE_TTY_BYTES = 256 * 1024,    /* a live channel skips when a terminal's output is so far behind … */
	LIVE_TTY_US = 1000000,          /* … and so old */
	CHANNEL_WALK = 1024 * 1024,     /* most bytes of the record that one message's making reads */
	/* Most bytes of frames made for this channel alone that wait; STATE is the largest. */
	CHANNEL_OWN_BYTES = 4000 * 1024,
};

struct channel_options {
	bool has_after; /* else: only what happens from now on */
	uint64_t after;
	enum channel_mode mode;
	enum role role;
	const char *name, *client_name;
	uint8_t client[CLIENT_ID_BYTES];
	struct bearer bearer;      /* whose role it is */
	const uint32_t *processes; /* NULL: all; copied */
	size_t process_count;
	bool has_credit;
	uint64_t credit;
	bool has_replay;
	uint64_t replay;            /* most bytes of events behind AFTER that are replayed; else a gap stands for them */
	uint32_t screens;           /* a second, instead of terminals' output; 0: none */
	uint32_t number;            /* the door's */
	void (*wake)(void *owner);  /* channel_next() may have something; must not attach or detach from within */
	void (*expel)(void *owner); /* an owner of the session removed it: it is detached within the call */
	void *owner;
};

struct unsent { /* of one process, for a lossless channel */
	uint32_t process;
	uint64_t bytes;
};

struct channel {
	LIST_ENTRY(channel) link;   /* in its session */
	LIST_ENTRY(channel) holder; /* in its session's, if it is lossless */
	struct session *session;
	void (*wake)(void *owner);
	void (*expel)(void *owner);
	void *owner;
	uint32_t number, participant;
	enum channel_mode mode;
	enum role role;
	char name[LIMIT_NAME_BYTES + 1], client_name[LIMIT_NAME_BYTES + 1];
	uint8_t client[CLIENT_ID_BYTES];
	uint8_t colour;
	struct bearer bearer;
	struct told_windows told; /* the sizes of its windows */
	uint64_t typed_us;        /* when the others last heard that it types */
	bool has_left;            /* it was given up, not lost with its connection */
	char removed_by[LIMIT_NAME_BYTES + 1];
	struct history at;   /* the cursor */
	uint64_t live_after; /* LIVE is due behind this event */
	bool live_sent, has_credit;
	uint64_t awaited; /* the event behind a gap that is looked at before the gap is told, or 0; … */
	unsigned awaits;  /* … how many came before it in vain, … */
	double awaits_s;  /* … and since when (ev_now()) */
	struct screens screens;
	const char *closing;   /* why it ends once everything was fetched, or NULL */
	uint64_t fetched;      /* its cursor, when it was last looked whether it fetches the end; 0: never */
	uint64_t credit, sent; /* bytes of frames since it was attached */
	struct pace pace;      /* at which its credit grows */
	uint32_t *processes;   /* filter, NULL = all */
	size_t process_count;
	struct unsent *unsent;
	size_t unsent_count;
	struct writer own; /* frames made for this channel, before the journal's */
};

/* Attach: PARTICIPANT joined is appended to the journal. AFTER beyond the last seq counts as the last. */
struct channel *channel_attach(struct session *session, const struct channel_options *options);
/* It has another role, from here on. Returns the event's seq. */
uint64_t channel_set_role(struct channel *channel, enum role role, const char *by);
/* BY (a principal) removes it: its door detaches it. */
void channel_remove(struct channel *channel, const char *by);
/* Detach: PARTICIPANT left; frees the channel. */
void channel_detach(struct channel *channel);
/* The channel ends for REASON (static) when everything was fetched; with NOW, what was not is a gap. */
void channel_close(struct channel *channel, const char *reason, bool now);
/* The reason once a closed channel has nothing left to fetch, else NULL. */
const char *channel_over(const struct channel *channel);

/* The next message, with CHANNEL_ROOM writable bytes before it; NULL when there is nothing to send now. It is valid
 * until the next call for any channel. MOST: bytes that it should not exceed, but for one whole frame. */
const uint8_t *channel_next(struct channel *channel, size_t most, size_t *length);
bool channel_has_more(const struct channel *channel);

void channel_credit(struct channel *channel, uint64_t bytes);
void channel_ack(struct channel *channel, uint32_t process, uint64_t offset);
/* Its participant types: the others hear of it, at most once a second. */
void channel_types(struct channel *channel, uint32_t process);
void channel_error(struct channel *channel, uint32_t process, enum error_code code, const char *message,
                   const char *key, uint64_t value); /* key NULL: empty data */

bool channel_follows(const struct channel *channel, uint32_t process);
/* Tell a lossless channel that BYTES of PROCESS were appended. */
void channel_appended(struct channel *channel, uint32_t process, uint64_t bytes);
/* How many bytes of PROCESS this channel lets be read now; 0: it is to be held. One that is held already is let go only well
 * below the bound. Of one that has exited the rest, which is bounded, may come as far as the ring has room: who waits for its
 * end is not to wait for this channel. */
uint64_t channel_lets_read(const struct channel *channel, const struct process *process);

#endif
