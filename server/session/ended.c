#include "ended.h"

#include "session_file.h"

#include <string.h>

static const ev_tstamp fetch_grace_s = 30.0;  /* until channels that do not fetch the end are closed all the same */
static const ev_tstamp record_grace_s = 60.0; /* until a record that cannot be finished is kept as it is */
static const ev_tstamp kept_for_s = 1.0;      /* that one which was read stays open, for who reads it again */

/* More is on disk: whoever waits for it goes on. */
static void on_recorded(void *owner)
{
	struct session *session = owner;
	waker_tell(session);
	session_channel_gone(session);
}

void session_record(struct session *session)
{
	if (session->record_bytes > 0)
		session->recording = recording_create(&session->home->recorder, session->id, session->journal,
		                                      session->record_bytes, on_recorded, session);
}

/* It does not count as one of the server's sessions any more. */
static void uncount(struct session *session)
{
	struct sessions *home = session->home;
	if (!session->is_counted)
		return;
	session->is_counted = false;
	if (--home->count == 0 && home->on_empty)
		home->on_empty(home->owner);
}

static void remove_session(struct session *session)
{
	struct sessions *home = session->home;
	char id[SESSION_ID_LENGTH + 1];
	memcpy(id, session->id, sizeof id);
	LIST_REMOVE(session, link);
	uncount(session);
	session_release(session);
	session_remove_files(home, id);
}

/* On a full disk the end of the journal, once the worker has let go of it, makes room for the file that says that it ended,
 * which session_ended() could not write: kept_sweep() tries again. */
static void keep(struct session *session)
{
	struct sessions *home = session->home;
	LIST_REMOVE(session, link);
	uncount(session);
	kept_unlink_journal(home, session->id);
	kept_add(home, session);
	session_release(session);
	kept_sweep(home);
}

static void arm(struct session *session, ev_tstamp seconds)
{
	ev_timer_stop(session->home->loop, &session->deadline);
	ev_timer_set(&session->deadline, seconds, 0.);
	ev_timer_start(session->home->loop, &session->deadline);
}

static bool is_worth_keeping(const struct session *session)
{
	const struct kept *kept = &session->home->kept;
	return session->recording && kept->most > 0 && kept->most_bytes > 0 && kept->most_age_ms > 0;
}

void session_channel_gone(struct session *session)
{
	if (session->state != SESSION_ENDED || !LIST_EMPTY(&session->channels))
		return;
	if (session->is_kept) {
		kept_stays_open(session);
		arm(session, kept_for_s);
	} else if (!is_worth_keeping(session)) {
		remove_session(session);
	} else if (recording_is_whole(session->recording) || session->is_late) {
		keep(session);
	} else {
		uncount(session);
		if (!ev_is_active(&session->deadline))
			arm(session, record_grace_s);
		recording_hurry(session->recording);
	}
}

/* Who has not gone on since the last look, and has more to fetch, is cut off. Whether somebody goes on. */
static bool look_after_channels(struct session *session)
{
	bool goes_on = false;
	struct channel *channel;
	LIST_FOREACH(channel, &session->channels, link) {
		bool is_at_end = channel->at.seq > session->kept_last;
		if (is_at_end || channel->at.seq == channel->fetched)
			channel_close(channel, "session_ended", true);
		goes_on |= channel->at.seq <= session->kept_last; /* one that was cut off may have to wait for that */
		channel->fetched = channel->at.seq;
	}
	return goes_on;
}

static void close_channels(struct session *session)
{
	struct channel *channel;
	LIST_FOREACH(channel, &session->channels, link) {
		channel_close(channel, "session_ended", false);
		channel->fetched = channel->at.seq;
	}
}

void session_ended(struct session *session)
{
	session->state = SESSION_ENDED;
	if (session->ended_us == 0) /* else a former gateway could not finish its record */
		session->ended_us = kept_now_us();
	session->kept_last = journal_last_seq(session->journal);
	session_end_store(session);
	if (is_worth_keeping(session))
		session->is_saved = session_file_save(session, NULL) == 0;
	recording_hurry(session->recording);
	if (!LIST_EMPTY(&session->channels)) {
		close_channels(session);
		arm(session, fetch_grace_s);
	}
	session_channel_gone(session);
}

void session_ended_deadline(struct session *session)
{
	session->is_late = LIST_EMPTY(&session->channels);
	if (session->is_kept)
		kept_close(session);
	else if (session->is_late)
		session_channel_gone(session);
	else if (look_after_channels(session))
		arm(session, fetch_grace_s);
}
