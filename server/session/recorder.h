/*
 * recorder.h: the gateway's side of recording: it tells a worker process (server/worker/) what of each session's journal
 * is new, and hears what of it stands on disk. Nothing here touches the disk, waits for the worker, or holds a process.
 *
 * Each recording has at most one request open. When more than an 8th of the ring (256 KiB at most) is not recorded, the
 * worker is asked at once, else within half a second. A worker that dies, or does not answer for ten seconds, is replaced;
 * the next one goes on where the segments end. Where the journal was overwritten meanwhile, the record holds a GAP.
 */
#ifndef SANDBAR_RECORDER_H
#define SANDBAR_RECORDER_H

#include "journal.h"
#include "sandbox/driver.h"

#include <ev.h>
#include <sys/queue.h>

struct recorder {
	struct ev_loop *loop;
	int sessions;              /* directory; borrowed */
	void (*hire)(void *owner); /* NULL: recorder_begin() was not called */
	void *owner;
	int fd; /* the worker's socket, or -1 */
	ev_io io;
	ev_timer due_timer, watchdog, rehire;
	TAILQ_HEAD(, recording) due; /* have something that the worker was not asked for yet */
	struct recording **rows;     /* by the low bits of their number */
	uint32_t row_count, generation, *closes, close_count;
	size_t open_requests;
	uint64_t reports, reports_seen; /* seen: by the watchdog */
	bool is_hiring;
};

struct recording {
	TAILQ_ENTRY(recording) due_link;
	struct recorder *recorder; /* NULL: nothing is recorded any more */
	const struct journal *journal;
	char id[SESSION_ID_LENGTH + 1];
	void (*changed)(void *owner); /* more is on disk; or it stopped, or goes on */
	void *owner;
	uint32_t number;
	uint64_t limit;                        /* bytes that the record may have */
	uint64_t first, last, position, bytes; /* as the worker reported */
	bool is_open, is_due, is_asked, has_position, is_damage_told;
	int errnum; /* why it stopped, or 0 */
};

void recorder_init(struct recorder *recorder, struct ev_loop *loop, int sessions);
void recorder_finish(struct recorder *recorder); /* asserts that no recording is left */
/* From here on a worker is asked for by HIRE when there is something to record: recorder_hired() follows. */
void recorder_begin(struct recorder *recorder, void (*hire)(void *owner), void *owner);
/* Begin, or go on after a worker's end: FD is its socket (the recorder's from here on), or -1: none can be had now. */
void recorder_hired(struct recorder *recorder, int fd);

/* Record JOURNAL, of session ID, in at most LIMIT bytes. */
struct recording *recording_create(struct recorder *recorder, const char *id, const struct journal *journal,
                                   uint64_t limit, void (*changed)(void *owner), void *owner);
/* The finished record of a session that has ended, in its DIRECTORY. LAST: its newest event, or 0: that is looked for, in as
 * much as a whole segment. NULL on error. */
struct recording *recording_load(int directory, uint64_t last, struct error *err);
void recording_destroy(struct recording *recording); /* NULL is allowed; the segments stay */

/* Something was appended to the journal. NULL is allowed. */
void recording_appended(struct recording *recording);
void recording_hurry(struct recording *recording); /* do not wait for more */
/* Whether what the record lacks of the journal's past can still come: the worker copied it, and has not said so yet. */
bool recording_is_coming(const struct recording *recording);
bool recording_is_whole(const struct recording *recording); /* all of the journal is in it */

#endif
