#include "history.h"

#include "replay.h"
#include "server/base/log.h"
#include "session.h"

#include <fcntl.h>
#include <unistd.h>

uint64_t history_last(const struct session *session)
{
	return session->journal ? journal_last_seq(session->journal) : session->kept_last;
}

uint64_t history_first(const struct session *session)
{
	const struct recording *recording = session->recording;
	uint64_t first = session->journal ? journal_first_seq(session->journal) : session->kept_last + 1;
	bool has_record = recording && recording->first <= recording->last;
	return has_record && recording->first < first ? recording->first : first;
}

static bool is_in_ring(const struct history *history)
{
	const struct journal *journal = history->session->journal;
	return journal && history->seq >= journal_first_seq(journal);
}

bool history_is_behind(const struct history *history)
{
	return history->replay || (history->session->journal && !is_in_ring(history));
}

static void find_in_ring(struct history *history)
{
	if (!history->is_placed)
		history->position = journal_find(history->session->journal, history->seq);
	history->is_placed = true;
}

void history_place(struct history *history, uint64_t seq)
{
	replay_close(history->replay);
	history->replay = NULL;
	history->seq = seq;
	history->is_placed = false;
	if (is_in_ring(history))
		find_in_ring(history);
}

void history_init(struct history *history, struct session *session, uint64_t seq)
{
	*history = (struct history){.session = session};
	history_place(history, seq);
}

void history_finish(struct history *history)
{
	replay_close(history->replay);
	history->replay = NULL;
}

static bool open_record(struct history *history)
{
	const struct session *session = history->session;
	int directory = openat(session->home->directory, session->id, O_DIRECTORY | O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (directory < 0)
		return false;
	history->replay = replay_open(directory, history->seq, NULL);
	close(directory);
	return history->replay != NULL;
}

static enum history_found missing_until(struct history *history, uint64_t next)
{
	history->next = next;
	history->is_placed = false;
	return HISTORY_MISSING;
}

/* Once for each session, while it is in memory. */
static void tell_damage(const struct history *history)
{
	struct recording *recording = history->session->recording;
	if (recording->is_damage_told)
		return;
	recording->is_damage_told = true;
	log_write(LOG_ERROR, history->session->id, "the record of a session is damaged",
	          LOG_FIELDS(log_number("from", (int64_t)history->seq), log_number("to", (int64_t)history->next - 1)));
}

/* What the ring does not have. HISTORY_END: the record does not have it either, and may not be waited for. */
static enum history_found look_in_record(struct history *history, const uint8_t **frame, size_t *length)
{
	const struct recording *recording = history->session->recording;
	if (!recording || history->seq > recording->last || (!history->replay && !open_record(history))) {
		replay_close(history->replay);
		history->replay = NULL;
		return HISTORY_END;
	}
	enum replay_found found = replay_look(history->replay, recording->last, frame, length, &history->next);
	history->is_placed = false;
	if (found == REPLAY_MISSING && replay_is_damaged(history->replay))
		tell_damage(history);
	return found == REPLAY_EVENT ? HISTORY_EVENT : HISTORY_MISSING;
}

static enum history_found look_in_ring(struct history *history, const uint8_t **frame, size_t *length)
{
	const struct journal *journal = history->session->journal;
	find_in_ring(history);
	if (history->position >= journal_tail(journal))
		return HISTORY_END;
	*frame = journal_frame(journal, history->position, length);
	history->length = *length;
	history->next = history->seq + 1;
	return HISTORY_EVENT;
}

enum history_found history_look(struct history *history, const uint8_t **frame, size_t *length)
{
	struct session *session = history->session;
	if (history->seq > history_last(session) && !history->replay)
		return HISTORY_END;
	if (history->replay || !is_in_ring(history)) {
		enum history_found found = look_in_record(history, frame, length);
		if (found != HISTORY_END)
			return found;
	}
	if (is_in_ring(history))
		return look_in_ring(history, frame, length);
	if (!session->journal) {
		uint64_t last = history_last(session);
		return history->seq > last ? HISTORY_END : missing_until(history, last + 1);
	}
	if (session->recording && recording_is_coming(session->recording))
		return HISTORY_LATER;
	return missing_until(history, journal_first_seq(session->journal));
}

void history_step(struct history *history)
{
	if (history->replay)
		replay_step(history->replay);
	else if (history->is_placed)
		history->position += history->length;
	history->seq = history->next;
}
