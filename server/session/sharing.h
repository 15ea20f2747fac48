/*
 * sharing.h: how people share one terminal: whether all editors type or one drives, who that is, who asks to, and the
 * size that comes of their windows. Every change is a DRIVER event, and stands in the process's record.
 *
 * A driver whose connection is lost is away for SHARING_AWAY seconds, after which nobody drives; a channel of the same
 * client takes the place again. Belongs to its process.
 */
#ifndef SANDBAR_SHARING_H
#define SANDBAR_SHARING_H

#include "windows.h"
#include "protocol/wire.h"
#include "protocol/writer.h"

enum input_mode { INPUT_OPEN, INPUT_DRIVER, INPUT_MODES };
enum { SHARING_REQUESTS = 16, SHARING_KEYS = 8 };
#define SHARING_AWAY 10. /* seconds */

struct process_record;
struct session;
struct channel;

struct sharing {
	struct process *process;
	enum input_mode input;
	uint32_t driver;                 /* a participant; 0: nobody */
	uint8_t client[CLIENT_ID_BYTES]; /* the driver's */
	bool is_away;
	uint32_t requests[SHARING_REQUESTS]; /* participants, in the order in which they asked */
	size_t request_count;
	ev_timer away;
	struct windows windows;
};

void sharing_init(struct sharing *sharing, struct process *process);
void sharing_stop(struct sharing *sharing); /* the terminal is gone; may be repeated */
/* As an earlier gateway left it: its driver's connection was lost with it. */
void sharing_restore(struct sharing *sharing, const struct process_record *record);
void sharing_go_on(struct sharing *sharing); /* … once events can be written: he is away from now on */

struct sharing_changes { /* NULL: it stays */
	const enum input_mode *input;
	const enum size_policy *size;
	struct window fixed; /* where *size is SIZE_FIXED */
};
/* All return the seq of their event, or of the last one where nothing changes. BY: a participant, 0 = not attached. */
uint64_t sharing_set(struct sharing *sharing, const struct sharing_changes *changes, uint32_t by);
/* CHANNEL's participant drives from now on; CHANGE: "taken" or "granted". */
uint64_t sharing_drive(struct sharing *sharing, const struct channel *channel, const char *change, uint32_t by);

/* These return false where there is nothing to change. */
bool sharing_release(struct sharing *sharing, uint32_t participant); /* the wheel, or a request */
bool sharing_request(struct sharing *sharing, uint32_t participant); /* false: too many ask already */

bool sharing_lets_type(const struct sharing *sharing, uint32_t participant);

/* Somebody came, goes, or has another role; for every terminal of the session. */
void sharing_joined(struct session *session, const struct channel *channel);
void sharing_left(struct session *session, const struct channel *channel, bool is_lost);
void sharing_role_changed(struct session *session, const struct channel *channel);

bool sharing_is_open(const struct sharing *sharing); /* the process has a terminal, and it is there */
void sharing_write(struct writer *writer, const struct sharing *sharing); /* the map of `terminals` */
/* The array `terminals` of a session: at most the newest SHARING_SHOWN. */
void sharing_write_all(struct writer *writer, const struct session *session);
enum { SHARING_SHOWN = 128 };

#endif
