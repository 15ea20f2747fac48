/*
 * journal.h: a session's ordered log of events, as a ring in a file that is mapped twice in a row, so that every
 * frame in it is contiguous and is sent as it stands.
 *
 * Positions are bytes since the journal began and only grow; a position's place is position % ring. Frames are
 * appended at the tail; moving the tail is the only commit. Room is made by moving the head from one index entry
 * (at least every JOURNAL_STRIDE bytes) to the next, so the head is always the beginning of a frame.
 *
 * The file: one header page, the index, the ring; allocated whole at creation, so that a full disk is an error
 * then and not a fault later. Output is read from a descriptor into its final place behind a header that is
 * written after; the intent in the header page tells a later process what a read in progress would have brought.
 */
#ifndef SANDBAR_JOURNAL_H
#define SANDBAR_JOURNAL_H

#include "protocol/wire.h"
#include "sandbox/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
	JOURNAL_STRIDE = 64 * 1024,      /* bytes between index entries */
	JOURNAL_READ = 64 * 1024,        /* most payload bytes of one OUTPUT */
	JOURNAL_EVENT = 64 * 1024,       /* most bytes of another event's frame */
	JOURNAL_RING_LEAST = 512 * 1024, /* bytes */
	JOURNAL_STDIN_SLOTS = 64,        /* (client, process) pairs whose input offset is kept */
};

#define JOURNAL_NAME "journal" /* of the file, in the session's directory */

struct journal;

/* The input offset that was accepted of one client for one process, as it stands in the header page. */
struct journal_stdin_slot {
	uint8_t client[CLIENT_ID_BYTES];
	uint64_t accepted; /* bytes that were written to the process */
	uint64_t ahead;    /* 1 + the offset of a byte that was written before its turn (input.h), or 0 */
	uint32_t process;  /* 0 = the slot is free */
	uint32_t intent;   /* bytes of a write in progress, else 0 */
};

/* Make the file NAME in DIRECTORY. RING is rounded up to pages. NULL on error (ENOSPC: the disk is full). */
struct journal *journal_create(int directory, const char *name, uint64_t ring, struct error *err);
/* Open the file that an earlier gateway left, and bring it into order: a read that was under way when it died is
 * committed if it had brought bytes. NULL on error. */
struct journal *journal_open(int directory, const char *name, struct error *err);
/* The same in another process, which only reads: from FD (it becomes closed). Only journal_peek(), journal_holds() and
 * journal_destroy() are for it. NULL on error. */
struct journal *journal_follow(int fd, struct error *err);
/* What stands behind POSITION, the beginning of a frame: *LENGTH bytes, at most MOST (which need not end with a frame); 0
 * when it is the tail. NULL: it was overwritten, or was never there. It may be overwritten at any time: whatever was read
 * there is worth something only if journal_holds() says so afterwards. */
const uint8_t *journal_peek(const struct journal *journal, uint64_t position, size_t most, size_t *length);
bool journal_holds(const struct journal *journal, uint64_t position);
void journal_destroy(struct journal *journal); /* unmaps; the file stays. NULL is allowed */

uint64_t journal_first_seq(const struct journal *journal);  /* oldest that is there; last + 1 when there is none */
uint64_t journal_last_seq(const struct journal *journal);   /* 0 before the first event */
uint64_t journal_head(const struct journal *journal);       /* position of first_seq */
uint64_t journal_tail(const struct journal *journal);       /* position behind the last event */
uint64_t journal_ring(const struct journal *journal);       /* bytes */
uint64_t journal_now_us(const struct journal *journal);     /* since the session was made */
uint64_t journal_created_us(const struct journal *journal); /* since 1970 */

/* Append a ready frame, whose seq must be last + 1. */
void journal_append(struct journal *journal, const void *frame, size_t length);

struct journal_source {
	int fd;
	uint32_t process;
	enum stream stream;
	uint64_t offset; /* of the first byte to be read */
};
enum journal_read_end { JOURNAL_READ_MORE, JOURNAL_READ_BLOCKED, JOURNAL_READ_ENDED };

/* Read up to MOST (<= JOURNAL_READ) bytes of the source and append them as one OUTPUT, if there were any. Returns
 * the number of bytes; *END tells whether the source has more, would block, or has ended (EOF, or EIO of a pty). */
size_t journal_read_output(struct journal *journal, const struct journal_source *source, size_t most,
                           enum journal_read_end *end);

/* The position of event SEQ, which must be in first_seq ... last_seq + 1. */
uint64_t journal_find(const struct journal *journal, uint64_t seq);

/* The oldest index entry that lies at most BYTES behind the tail: its position, and its seq. */
uint64_t journal_recent(const struct journal *journal, uint64_t bytes, uint64_t *seq);

/* The frame at POSITION (head <= POSITION < tail): its bytes, valid until the next append. */
const uint8_t *journal_frame(const struct journal *journal, uint64_t position, size_t *length);

/* The slot of CLIENT and PROCESS; made when there is none and MAKE is set. NULL when all are taken. */
struct journal_stdin_slot *journal_stdin(struct journal *journal, const uint8_t client[CLIENT_ID_BYTES],
                                         uint32_t process, bool make);
/* 1 + the offset of the end of input that was written to a terminal last, or 0; it stands in the header page, too. */
uint64_t *journal_stdin_end(struct journal *journal, const struct journal_stdin_slot *slot);
struct journal_stdin_slot *journal_stdin_row(struct journal *journal, size_t i); /* 0 ... JOURNAL_STDIN_SLOTS - 1 */
void journal_stdin_forget(struct journal *journal, uint32_t process); /* free the slots of a process that is done */

#endif
