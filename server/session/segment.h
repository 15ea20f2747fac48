/*
 * segment.h: the files that hold a session's record: its events, verbatim, as frames one behind the other.
 *
 * A record is a series of segments in the session's directory, each named after the seq of its first event, each going
 * on where the one before ends. Where events could not be recorded stands a GAP frame that says which. Only whole frames
 * count: what a writer that died left behind the last one is cut off by the next writer, and not seen by a reader.
 */
#ifndef SANDBAR_SEGMENT_H
#define SANDBAR_SEGMENT_H

#include "journal.h"

enum {
	SEGMENT_BYTES = 4 * 1024 * 1024, /* a segment is closed when it has as many, or a 16th of a small record */
	SEGMENT_LEAST = 64 * 1024,
	SEGMENT_NAME_BYTES = 7 + 16 + 1,              /* "record-" and 16 hexadecimal digits */
	SEGMENT_FRAME = JOURNAL_READ + JOURNAL_EVENT, /* bytes that hold any frame */
};

struct segment {
	uint64_t first; /* seq of its first event, or from which its first GAP counts */
	uint64_t bytes;
};

/* All of a directory, the oldest first. */
struct segments {
	struct segment *rows;
	size_t count;
	uint64_t bytes; /* of all */
};

void segment_name(uint64_t first, char name[SEGMENT_NAME_BYTES]);
bool segment_is_name(const char *name, uint64_t *first);

int segments_list(struct segments *segments, int directory, struct error *err); /* -1 on error */
void segments_finish(struct segments *segments);

/* What stands at AT, where HAVE bytes are, in a record that has come to SEQ. */
enum segment_found {
	SEGMENT_EVENT, /* event SEQ */
	SEGMENT_GAP,   /* a GAP that begins with SEQ: *NEXT is the first event behind it */
	SEGMENT_PART,  /* nothing, or a frame that has not come whole */
	SEGMENT_WRONG, /* no frame of this record */
};
enum segment_found segment_frame(const uint8_t *at, size_t have, uint64_t seq, size_t *length, uint64_t *next);

/* How many bytes of the segment in DIRECTORY are whole frames; *NEXT is the seq behind them. -1: it cannot be read. */
int segment_measure(int directory, const struct segment *segment, uint64_t *bytes, uint64_t *next, struct error *err);

#endif
