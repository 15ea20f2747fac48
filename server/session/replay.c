#include "replay.h"

#include "event_shape.h"
#include "server/base/plain_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BUFFER = 2 * SEGMENT_FRAME };

struct replay {
	int directory, fd; /* fd: the segment, or -1 */
	uint64_t seq;      /* the event that is wanted next */
	uint64_t here;     /* what the segment has come to at the buffer's beginning; at most SEQ */
	uint64_t at;       /* bytes of the segment before the buffer's */
	size_t from, to;   /* what of the buffer is still to come */
	size_t length;     /* of the frame there, */
	uint64_t next;     /* and the seq behind it */
	bool is_damaged;   /* what was there has no event's shape */
	uint8_t buffer[BUFFER];
};

static void close_segment(struct replay *replay)
{
	if (replay->fd >= 0)
		close(replay->fd);
	replay->fd = -1;
	replay->at = replay->from = replay->to = 0;
}

/* Open the segment that begins with event FIRST. */
static bool open_segment(struct replay *replay, uint64_t first)
{
	char name[SEGMENT_NAME_BYTES];
	segment_name(first, name);
	close_segment(replay);
	replay->here = first;
	replay->fd = plain_file_open(replay->directory, name, O_RDONLY, 0);
	if (replay->fd >= 0)
		(void)posix_fadvise(replay->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
	return replay->fd >= 0;
}

/* More of the segment, behind what is in the buffer. False at its end. */
static bool fill(struct replay *replay)
{
	memmove(replay->buffer, replay->buffer + replay->from, replay->to - replay->from);
	replay->at += replay->from;
	replay->to -= replay->from;
	replay->from = 0;
	ssize_t got = pread(replay->fd, replay->buffer + replay->to, BUFFER - replay->to, (off_t)(replay->at + replay->to));
	replay->to += got > 0 ? (size_t)got : 0;
	return got > 0;
}

/* What stands at the buffer's beginning. */
static enum segment_found look(struct replay *replay)
{
	for (;;) {
		enum segment_found found = segment_frame(replay->buffer + replay->from, replay->to - replay->from, replay->here,
		                                         &replay->length, &replay->next);
		if (found != SEGMENT_PART || !fill(replay))
			return found;
	}
}

static void pass(struct replay *replay)
{
	replay->from += replay->length;
	replay->here = replay->next;
}

/* The first event of the segment in which SEQ stands or should stand, 0 if there is none; and of the one behind it. */
static uint64_t find(const struct replay *replay, uint64_t seq, uint64_t *behind)
{
	struct segments segments;
	*behind = UINT64_MAX;
	if (segments_list(&segments, replay->directory, NULL) < 0)
		return 0;
	size_t i = segments.count;
	while (i > 0 && segments.rows[i - 1].first > seq)
		*behind = segments.rows[--i].first;
	uint64_t first = i > 0 ? segments.rows[i - 1].first : 0;
	segments_finish(&segments);
	return first;
}

struct replay *replay_open(int directory, uint64_t seq, struct error *err)
{
	struct replay *replay = malloc(sizeof *replay);
	if (!replay)
		abort();
	replay->fd = -1;
	replay->seq = seq;
	replay->is_damaged = false;
	close_segment(replay);
	replay->directory = fcntl(directory, F_DUPFD_CLOEXEC, 0);
	if (replay->directory >= 0)
		return replay;
	error_set(err, errno, "duplicate a session's directory");
	free(replay);
	return NULL;
}

struct replay *replay_copy(const struct replay *replay, struct error *err)
{
	return replay_open(replay->directory, replay->seq, err);
}

void replay_close(struct replay *replay)
{
	if (!replay)
		return;
	close_segment(replay);
	close(replay->directory);
	free(replay);
}

bool replay_is_damaged(const struct replay *replay)
{
	return replay->is_damaged;
}

uint64_t replay_seq(const struct replay *replay)
{
	return replay->seq;
}

/* The segment does not go on, and none begins where it came to, or it is damaged: what is wanted is nowhere before the
 * next one. */
static enum replay_found give_up(struct replay *replay, uint64_t last, uint64_t *next)
{
	uint64_t behind;
	find(replay, replay->seq, &behind);
	close_segment(replay);
	*next = replay->next = behind <= last ? behind : last + 1;
	return REPLAY_MISSING;
}

/* Where its length is right, a damaged event is missing alone. */
static bool is_sound(struct replay *replay)
{
	bool is_sound = event_has_shape(replay->buffer + replay->from, replay->length);
	replay->is_damaged |= !is_sound;
	return is_sound;
}

enum replay_found replay_look(struct replay *replay, uint64_t last, const uint8_t **frame, size_t *length,
                              uint64_t *next)
{
	uint64_t behind, first;
	if (replay->seq > last)
		return REPLAY_END;
	if (replay->fd < 0 && (!(first = find(replay, replay->seq, &behind)) || !open_segment(replay, first)))
		return give_up(replay, last, next);
	for (;;) {
		enum segment_found found = look(replay);
		bool is_frame = found == SEGMENT_EVENT || found == SEGMENT_GAP;
		replay->is_damaged |= found == SEGMENT_WRONG || (found == SEGMENT_PART && replay->from < replay->to);
		if (is_frame && replay->next > replay->seq) {
			*frame = replay->buffer + replay->from;
			*length = replay->length;
			*next = replay->next;
			return found == SEGMENT_EVENT && is_sound(replay) ? REPLAY_EVENT : REPLAY_MISSING;
		}
		if (is_frame)
			pass(replay);
		else if (found == SEGMENT_WRONG || replay->at + replay->from == 0 || !open_segment(replay, replay->here))
			return give_up(replay, last, next);
	}
}

void replay_step(struct replay *replay)
{
	if (replay->fd >= 0)
		pass(replay);
	replay->seq = replay->next;
}
