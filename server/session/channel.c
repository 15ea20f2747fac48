#include "channel.h"

#include "channel_answer.h"
#include "channel_state.h"
#include "session.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OWN_KEPT = 1024 /* bytes for own frames that a channel keeps while it has none */ };

static void copy_text(char *to, size_t size, const char *from)
{
	snprintf(to, size, "%s", from ? from : "");
}

static void place_cursor(struct channel *channel, const struct channel_options *options)
{
	uint64_t last = history_last(channel->session);
	uint64_t after = options->has_after && options->after < last ? options->after : last;
	history_init(&channel->at, channel->session, after + 1);
}

static void recount_unsent(struct channel *channel);
static bool tell_gap(struct channel *channel, uint64_t next);
static void show_at_once(struct channel *channel, const struct channel_options *options);

struct channel *channel_attach(struct session *session, const struct channel_options *options)
{
	struct channel *channel = calloc(1, sizeof *channel);
	if (!channel)
		abort();
	channel->session = session;
	channel->wake = options->wake;
	channel->owner = options->owner;
	channel->number = options->number;
	channel->mode = options->mode;
	channel->role = options->role;
	channel->has_credit = options->has_credit;
	channel->credit = options->credit;
	pace_init(&channel->pace, LOSSLESS_TTY_BYTES);
	copy_text(channel->name, sizeof channel->name, options->name);
	copy_text(channel->client_name, sizeof channel->client_name, options->client_name);
	memcpy(channel->client, options->client, sizeof channel->client);
	channel->bearer = options->bearer;
	channel->expel = options->expel;
	if (options->processes) {
		channel->processes = calloc(options->process_count + 1, sizeof *channel->processes);
		if (!channel->processes)
			abort();
		if (options->process_count > 0)
			memcpy(channel->processes, options->processes, options->process_count * sizeof *channel->processes);
		channel->process_count = options->process_count;
	}
	writer_init(&channel->own, CHANNEL_OWN_BYTES);
	screens_init(&channel->screens, channel, options->screens);
	place_cursor(channel, options);
	recount_unsent(channel); /* a lossless one has its whole replay before it */
	LIST_INSERT_HEAD(&session->channels, channel, link);
	if (channel->mode == CHANNEL_LOSSLESS)
		holds_join(channel);
	participant_joined(channel);
	if (session->state == SESSION_ENDED)
		channel->closing = "session_ended";
	else
		sharing_joined(session, channel);
	channel->live_after = history_last(session);
	show_at_once(channel, options);
	channel_tell_unknown_input(channel);
	meter_wake(&session->meter);
	return channel;
}

void channel_detach(struct channel *channel)
{
	struct session *session = channel->session;
	LIST_REMOVE(channel, link);
	if (channel->mode == CHANNEL_LOSSLESS)
		holds_leave(channel);
	participant_left(channel, channel->removed_by[0] ? channel->removed_by : NULL);
	sharing_left(session, channel, !channel->has_left);
	history_finish(&channel->at);
	writer_finish(&channel->own);
	screens_finish(&channel->screens);
	free(channel->processes);
	free(channel->unsent);
	told_windows_finish(&channel->told);
	free(channel);
	session_reconsider_holds(session);
	session_channel_gone(session);
}

uint64_t channel_set_role(struct channel *channel, enum role role, const char *by)
{
	if (role < ROLE_EDITOR && channel->mode == CHANNEL_LOSSLESS) {
		channel->mode = CHANNEL_LIVE; /* a viewer holds nothing back */
		holds_leave(channel);
	}
	uint64_t seq = participant_role(channel, role, by);
	session_reconsider_holds(channel->session);
	sharing_role_changed(channel->session, channel);
	return seq;
}

void channel_remove(struct channel *channel, const char *by)
{
	copy_text(channel->removed_by, sizeof channel->removed_by, by);
	channel->has_left = true;
	channel->expel(channel->owner);
}

/* What a STATE or a SCREEN took is given back: most channels get one, once. */
static void empty_own(struct channel *channel)
{
	if (channel->own.capacity > OWN_KEPT)
		writer_finish(&channel->own);
	else
		writer_reset(&channel->own);
}

void channel_close(struct channel *channel, const char *reason, bool now)
{
	channel->closing = reason;
	channel->has_credit = false; /* nothing more will come to spend it on */
	uint64_t last = history_last(channel->session);
	/* Who left so much of its own frames that the gap has no room behind them takes nothing at all. */
	if (now && channel->at.seq <= last && channel->own.length < CHANNEL_OWN_BYTES / 4)
		tell_gap(channel, last + 1);
	channel->wake(channel->owner);
}

/* The replay is over when the ring was reached, so that who comes back reads on until nothing is missing. */
static bool is_live_due(const struct channel *channel)
{
	return !channel->live_sent && channel->at.seq > channel->live_after && !history_is_behind(&channel->at);
}

static bool is_at_end(const struct channel *channel)
{
	return channel->at.seq > history_last(channel->session);
}

static bool are_screens_due(const struct channel *channel)
{
	return screens_are_due(&channel->screens) && (screens_replace_output(&channel->screens) || is_at_end(channel));
}

bool channel_has_more(const struct channel *channel)
{
	bool may_send = !channel->has_credit || channel->sent < channel->credit;
	return channel->own.length > 0 || are_screens_due(channel) || is_live_due(channel) ||
	       (may_send && channel->at.seq <= history_last(channel->session));
}

const char *channel_over(const struct channel *channel)
{
	bool is_fetched = channel->own.length == 0 && channel->live_sent &&
	                  channel->at.seq > history_last(channel->session);
	return is_fetched ? channel->closing : NULL; /* one that waits for credit is not over */
}

bool channel_follows(const struct channel *channel, uint32_t process)
{
	if (!channel->processes)
		return true;
	for (size_t i = 0; i < channel->process_count; i++)
		if (channel->processes[i] == process)
			return true;
	return false;
}

static struct unsent *unsent_of(struct channel *channel, uint32_t process)
{
	for (size_t i = 0; i < channel->unsent_count; i++)
		if (channel->unsent[i].process == process)
			return &channel->unsent[i];
	for (size_t i = 0; i < channel->unsent_count; i++) {
		if (channel->unsent[i].bytes > 0)
			continue;
		channel->unsent[i].process = process;
		return &channel->unsent[i];
	}
	channel->unsent = realloc(channel->unsent, (channel->unsent_count + 1) * sizeof *channel->unsent);
	if (!channel->unsent)
		abort();
	channel->unsent[channel->unsent_count] = (struct unsent){.process = process};
	return &channel->unsent[channel->unsent_count++];
}

void channel_appended(struct channel *channel, uint32_t process, uint64_t bytes)
{
	if (channel->mode == CHANNEL_LOSSLESS && channel_follows(channel, process))
		unsent_of(channel, process)->bytes += bytes;
}

static uint64_t unsent_bound(const struct channel *channel, bool terminal)
{
	uint64_t most = journal_ring(channel->session->journal) / 4, bound = LOSSLESS_PIPE_BYTES;
	if (terminal)
		bound = channel->has_credit ? channel->pace.bound : LOSSLESS_TTY_BYTES;
	return bound < most ? bound : most;
}

static uint64_t unsent_bytes(const struct channel *channel, uint32_t process)
{
	for (size_t i = 0; i < channel->unsent_count; i++)
		if (channel->unsent[i].process == process)
			return channel->unsent[i].bytes;
	return 0;
}

/* Up to three quarters of it may wait for this channel. */
static uint64_t room_in_ring(const struct channel *channel)
{
	const struct journal *journal = channel->session->journal;
	uint64_t most = journal_ring(journal) / 4 * 3, waiting = journal_tail(journal) - channel->at.position;
	return waiting < most ? most - waiting : 0;
}

uint64_t channel_lets_read(const struct channel *channel, const struct process *process)
{
	bool is_over = process->state == PROCESS_REAPED, low = process->held;
	if (channel->mode != CHANNEL_LOSSLESS || channel->closing || !channel_follows(channel, process->number))
		return UINT64_MAX;
	if (history_is_behind(&channel->at))
		return is_over ? UINT64_MAX : 0; /* what it has before it is not even in the ring */
	if (is_over)
		return room_in_ring(channel);
	const struct journal *journal = channel->session->journal;
	uint64_t ring = journal_ring(journal), bound = unsent_bound(channel, process->terminal);
	uint64_t unsent = unsent_bytes(channel, process->number);
	if (unsent >= (low ? bound / 2 : bound))
		return 0;
	/* Several processes may share the ring: none may push the others' unsent bytes out of it. */
	if (channel->unsent_count > 1 && journal_tail(journal) - channel->at.position > ring / (low ? 4 : 2))
		return 0;
	return bound - unsent > bound / 4 ? bound - unsent : bound / 4; /* no crumbs: each is a frame */
}

/* Take the unsent bytes anew from what stands in the journal behind the cursor. */
static void recount_unsent(struct channel *channel)
{
	const struct journal *journal = channel->session->journal;
	if (channel->mode != CHANNEL_LOSSLESS)
		return;
	channel->unsent_count = 0;
	if (history_is_behind(&channel->at) || !channel->at.is_placed)
		return; /* it is counted when the ring is reached */
	uint64_t position = channel->at.position, tail = journal_tail(journal);
	while (position < tail) {
		size_t length;
		struct output_header output;
		const uint8_t *frame = journal_frame(journal, position, &length);
		if (output_header_read(frame, length, &output))
			channel_appended(channel, output.process, output.length);
		position += length;
	}
}

/* Tell that the events up to NEXT - 1 will not come, and how things stand behind them. False: it must wait. */
static bool tell_gap(struct channel *channel, uint64_t next)
{
	if (!channel_state_write(channel, &next))
		return false;
	history_place(&channel->at, next);
	recount_unsent(channel);
	if (channel->session->journal)
		screens_want_all(&channel->screens);
	if (is_at_end(channel))
		screens_write(&channel->screens);
	return true;
}

/* Whoever joins sees each terminal as it is; nothing was written since the cursor was placed. What it does not want to
 * have replayed is a gap. */
static void show_at_once(struct channel *channel, const struct channel_options *options)
{
	const struct journal *journal = channel->session->journal;
	if (!journal)
		return;
	if (!options->has_after || options->screens > 0) {
		screens_want_all(&channel->screens);
		screens_write(&channel->screens);
		return;
	}
	bool is_much = options->has_replay && channel->at.seq <= history_last(channel->session) &&
	               (history_is_behind(&channel->at) || !channel->at.is_placed ||
	                journal_tail(journal) - channel->at.position > options->replay);
	if (is_much)
		tell_gap(channel, history_last(channel->session) + 1);
}

/* What a person sees of a terminal would be old, and no use any more. */
static bool is_terminal_stale(const struct channel *channel)
{
	const struct journal *journal = channel->session->journal;
	uint64_t position = channel->at.position;
	struct output_header output;
	size_t length;
	if (!channel->at.is_placed || journal_tail(journal) - position < LIVE_TTY_BYTES)
		return false;
	const uint8_t *frame = journal_frame(journal, position, &length);
	return output_header_read(frame, length, &output) && output.stream == STREAM_TTY &&
	       channel_follows(channel, output.process) && journal_now_us(journal) - output.t_us >= LIVE_TTY_US;
}

/* A live channel that fell behind while live would fall behind again at the ring's very end, and further in the record:
 * it gets the newest part; and of a terminal, whose screen is all that counts, what comes from now on. */
static void skip_to_recent(struct channel *channel)
{
	const struct journal *journal = channel->session->journal;
	uint64_t next;
	if (channel->mode != CHANNEL_LIVE || !channel->live_sent || !journal)
		return;
	if (channel->own.length > CHANNEL_OWN_BYTES / 4)
		return; /* a large screen goes first: behind it a state might have no room */
	bool is_behind = history_is_behind(&channel->at), has_screens = channel->session->display_cells > 0;
	if ((is_behind && has_screens) || (!is_behind && is_terminal_stale(channel)))
		next = journal_last_seq(journal) + 1; /* where screens can be shown */
	else if (is_behind)
		journal_recent(journal, journal_ring(journal) / 4, &next);
	else
		return;
	tell_gap(channel, next);
}

/* Where the cursor stands before something that is not there any more, say so. */
static void tell_what_is_missing(struct channel *channel)
{
	const uint8_t *frame;
	size_t length;
	while (channel->own.length == 0 && history_look(&channel->at, &frame, &length) == HISTORY_MISSING)
		if (!tell_gap(channel, channel->at.next))
			return;
}

static uint8_t *scratch(struct channel *channel, size_t bytes)
{
	struct sessions *home = channel->session->home;
	home->run.session = NULL;
	if (home->scratch_bytes < CHANNEL_ROOM + bytes) {
		free(home->scratch);
		home->scratch_bytes = CHANNEL_ROOM + bytes;
		home->scratch = malloc(home->scratch_bytes);
		if (!home->scratch)
			abort();
	}
	return home->scratch + CHANNEL_ROOM;
}

static const uint8_t *own_message(struct channel *channel, size_t *length)
{
	assert(!channel->own.failed);
	uint8_t *message = scratch(channel, CHANNEL_PREFIX_BYTES + channel->own.length);
	channel_prefix_write(message, channel->number);
	memcpy(message + CHANNEL_PREFIX_BYTES, channel->own.data, channel->own.length);
	*length = CHANNEL_PREFIX_BYTES + channel->own.length;
	empty_own(channel);
	return message;
}

static void consumed(struct channel *channel, const struct output_header *output)
{
	if (channel->mode != CHANNEL_LOSSLESS)
		return;
	struct unsent *unsent = unsent_of(channel, output->process);
	unsent->bytes -= output->length < unsent->bytes ? output->length : unsent->bytes;
}

static bool wants_output(const struct channel *channel, const struct output_header *output)
{
	bool is_shown = screens_replace_output(&channel->screens) && output->stream == STREAM_TTY;
	return !is_shown && channel_follows(channel, output->process);
}

/* Put the frame at the cursor behind TO, where it is wanted, and go on. */
static size_t take(struct channel *channel, uint8_t *to, const uint8_t *frame, size_t length)
{
	struct output_header output;
	bool is_output = output_header_read(frame, length, &output);
	bool is_wanted = !is_output || wants_output(channel, &output);
	if (is_wanted) {
		memcpy(to, frame, length);
		channel->sent += length;
		if (is_output)
			consumed(channel, &output);
	}
	history_step(&channel->at);
	return is_wanted ? length : 0;
}

/* Whether the frame has to wait for another message, of which USED bytes are there, or for credit. */
static bool is_for_later(const struct channel *channel, const uint8_t *frame, size_t length, size_t used, size_t most)
{
	struct output_header output;
	if (output_header_read(frame, length, &output) && !wants_output(channel, &output))
		return false;
	return (used > 0 && used + length > most) || (channel->has_credit && channel->sent >= channel->credit);
}

/* Put whole frames from the cursor on behind TO, at most MOST bytes but at least one frame. Returns their bytes. */
static size_t gather(struct channel *channel, uint8_t *to, size_t most)
{
	const uint8_t *frame;
	size_t length, used = 0, walked = 0;
	while (!is_live_due(channel) && history_look(&channel->at, &frame, &length) == HISTORY_EVENT) {
		if (is_for_later(channel, frame, length, used, most))
			break;
		if (walked >= CHANNEL_WALK && channel->at.replay) {
			channel->wake(channel->owner); /* it goes on in the next turn */
			break;
		}
		walked += length;
		used += take(channel, to + used, frame, length);
	}
	return used;
}

static bool may_share_run(const struct channel *channel)
{
	return !channel->processes && !channel->has_credit && !screens_replace_output(&channel->screens) &&
	       channel->mode == CHANNEL_LIVE && channel->live_sent && channel->at.is_placed &&
	       !history_is_behind(&channel->at);
}

/* The run that was put together for another viewer at the same place, or NULL. */
static const uint8_t *shared_run(struct channel *channel, size_t most, size_t *length)
{
	struct sessions *home = channel->session->home;
	if (!may_share_run(channel) || home->run.session != channel->session || home->run.from != channel->at.position ||
	    home->run.most != most)
		return NULL;
	uint8_t *message = home->scratch + CHANNEL_ROOM;
	channel_prefix_write(message, channel->number);
	channel->at.position = home->run.to;
	channel->at.seq = home->run.next_seq;
	*length = home->run.length;
	channel->sent += *length - CHANNEL_PREFIX_BYTES;
	return message;
}

static const uint8_t *journal_message(struct channel *channel, size_t most, size_t *length)
{
	const uint8_t *shared = shared_run(channel, most, length);
	if (shared)
		return shared;
	uint64_t from = channel->at.position;
	bool may_share = may_share_run(channel), was_behind = history_is_behind(&channel->at);
	uint8_t *message = scratch(channel, CHANNEL_PREFIX_BYTES + most + JOURNAL_READ + JOURNAL_EVENT);
	channel_prefix_write(message, channel->number);
	size_t used = gather(channel, message + CHANNEL_PREFIX_BYTES, most);
	if (was_behind && !history_is_behind(&channel->at))
		recount_unsent(channel);
	if (channel->mode == CHANNEL_LOSSLESS)
		session_reconsider_holds(channel->session);
	if (used == 0)
		return NULL;
	*length = CHANNEL_PREFIX_BYTES + used;
	if (may_share && may_share_run(channel)) {
		struct sessions *home = channel->session->home;
		home->run.session = channel->session;
		home->run.from = from;
		home->run.to = channel->at.position;
		home->run.next_seq = channel->at.seq;
		home->run.length = *length;
		home->run.most = most;
	}
	return message;
}

static void tell_live_if_due(struct channel *channel)
{
	if (!is_live_due(channel))
		return;
	channel->live_sent = true;
	writer_array(&channel->own, 2);
	writer_uint(&channel->own, FRAME_LIVE);
	writer_uint(&channel->own, channel->at.seq - 1);
}

/* Who has no credit is told of what he misses when he has some again: in one GAP, and not in one after the other. */
static void tell_gaps(struct channel *channel)
{
	if (channel->has_credit && channel->sent >= channel->credit)
		return;
	skip_to_recent(channel);
	tell_what_is_missing(channel);
}

const uint8_t *channel_next(struct channel *channel, size_t most, size_t *length)
{
	if (channel_state_is_awaited(channel))
		return channel->own.length > 0 ? own_message(channel, length) : NULL;
	tell_gaps(channel);
	if (channel->own.length == 0 && are_screens_due(channel))
		screens_write(&channel->screens);
	tell_live_if_due(channel);
	if (channel->own.length > 0)
		return own_message(channel, length);
	const uint8_t *message = journal_message(channel, most, length);
	if (message)
		return message;
	/* What was passed over can end before LIVE, or before something that is missing. */
	tell_gaps(channel);
	tell_live_if_due(channel);
	return channel->own.length > 0 ? own_message(channel, length) : NULL;
}

void channel_credit(struct channel *channel, uint64_t bytes)
{
	bool is_spent = channel->closing && !channel->has_credit; /* what is left comes without it */
	if (is_spent || (channel->has_credit && bytes <= channel->credit))
		return;
	bool is_behind = channel->has_credit && channel->sent >= channel->credit &&
	                 channel->at.seq <= history_last(channel->session);
	channel->has_credit = true;
	channel->credit = bytes;
	if (channel->session->journal)
		pace_note(&channel->pace, bytes, journal_now_us(channel->session->journal), is_behind);
	channel->wake(channel->owner);
}
