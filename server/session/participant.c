#include "participant.h"

#include "session.h"

#include <stdio.h>

struct channel *participant_find(const struct session *session, uint64_t number)
{
	struct channel *channel;
	LIST_FOREACH(channel, &session->channels, link)
		if (channel->participant == number)
			return channel;
	return NULL;
}

static uint64_t tell(struct session *session, const struct participant_record *who, const char *change, const char *by)
{
	struct writer *event = session_event_begin(session, FRAME_PARTICIPANT, 2);
	writer_uint(event, who->participant);
	writer_map(event, 6);
	writer_key_str(event, "change", change);
	writer_key_str(event, "name", who->name);
	writer_key_str(event, "role", role_name((enum role)who->role));
	writer_key_str(event, "client", who->client_name);
	writer_key_uint(event, "colour", who->colour);
	writer_key_str(event, "by", by);
	return session_event_commit(session);
}

static struct participant_record record_of(const struct channel *channel)
{
	struct participant_record who = {.participant = channel->participant,
	                                 .role = channel->role,
	                                 .colour = channel->colour,
	                                 .is_lossless = channel->mode == CHANNEL_LOSSLESS};
	snprintf(who.name, sizeof who.name, "%s", channel->name);
	snprintf(who.client_name, sizeof who.client_name, "%s", channel->client_name);
	return who;
}

/* The one that the fewest have, of those the first. */
static uint8_t choose_colour(const struct channel *self)
{
	unsigned used[PARTICIPANT_COLOURS] = {0};
	unsigned best = 0;
	const struct channel *channel;
	LIST_FOREACH(channel, &self->session->channels, link)
		if (channel != self)
			used[channel->colour]++;
	for (unsigned colour = 1; colour < PARTICIPANT_COLOURS; colour++)
		if (used[colour] < used[best])
			best = colour;
	return (uint8_t)best;
}

void participant_joined(struct channel *channel)
{
	struct session *session = channel->session;
	channel->participant = ++session->next_participant;
	channel->colour = choose_colour(channel);
	if (session->state == SESSION_ENDED)
		return; /* nothing is added behind ENDED */
	const struct participant_record who = record_of(channel);
	*records_next_participant(session->records) = session->next_participant;
	struct participant_record *row = records_participant(session->records, 0);
	if (row)
		*row = who;
	tell(session, &who, "joined", NULL);
}

static struct participant_record *row_of(const struct channel *channel)
{
	return records_participant(channel->session->records, channel->participant);
}

void participant_left(struct channel *channel, const char *by)
{
	struct session *session = channel->session;
	if (session->state == SESSION_ENDED || session->home->is_leaving)
		return;
	const struct participant_record who = record_of(channel);
	struct participant_record *row = row_of(channel);
	if (row)
		row->participant = 0;
	tell(session, &who, by ? "removed" : "left", by);
}

uint64_t participant_role(struct channel *channel, enum role role, const char *by)
{
	channel->role = role;
	const struct participant_record who = record_of(channel);
	struct participant_record *row = row_of(channel);
	if (row)
		*row = who;
	return tell(channel->session, &who, "role", by);
}

void participants_left(struct session *session)
{
	for (size_t i = 0; i < RECORD_PARTICIPANTS; i++) {
		struct participant_record *row = records_participant_row(session->records, i);
		if (row->participant == 0 || participant_find(session, row->participant))
			continue;
		tell(session, row, "left", NULL);
		row->participant = 0;
	}
}

unsigned participants_lossless(const struct session *session)
{
	unsigned count = 0;
	for (size_t i = 0; i < RECORD_PARTICIPANTS; i++) {
		const struct participant_record *row = records_participant_row(session->records, i);
		count += row->participant != 0 && row->is_lossless;
	}
	return count;
}

void participant_write(struct writer *writer, const struct channel *channel)
{
	writer_map(writer, PARTICIPANT_KEYS);
	writer_key_uint(writer, "participant", channel->participant);
	writer_key_str(writer, "name", channel->name);
	writer_key_str(writer, "role", role_name(channel->role));
	writer_key_str(writer, "client", channel->client_name);
	writer_key_uint(writer, "colour", channel->colour);
}

uint32_t participants_count(const struct session *session)
{
	const struct channel *channel;
	uint32_t count = 0;
	LIST_FOREACH(channel, &session->channels, link)
		count++;
	return count;
}

void participants_write(struct writer *writer, const struct session *session, uint32_t most)
{
	const struct channel *channel;
	uint32_t count = participants_count(session);
	count = count < most ? count : most;
	writer_array(writer, count);
	LIST_FOREACH(channel, &session->channels, link) /* the newest stands first */
		if (count > 0 && count--)
			participant_write(writer, channel);
}
