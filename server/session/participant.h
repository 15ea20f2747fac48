/*
 * participant.h: who is attached to a session: told to everybody as PARTICIPANT, and kept for a later gateway, which
 * tells that they left.
 */
#ifndef SANDBAR_PARTICIPANT_H
#define SANDBAR_PARTICIPANT_H

#include "protocol/wire.h"
#include "protocol/writer.h"

struct channel;
struct session;

enum { PARTICIPANT_COLOURS = 8, PARTICIPANTS_SHOWN = 128, PARTICIPANT_KEYS = 5 };

/* The channel of participant NUMBER; NULL: nobody who is attached has it. */
struct channel *participant_find(const struct session *session, uint64_t number);

/* CHANNEL, which stands in its session's list, has joined: it gets a number and a colour. */
void participant_joined(struct channel *channel);
/* It has left the list; BY, a principal's name, removed it, or NULL. */
void participant_left(struct channel *channel, const char *by);
/* It has another role. Returns the event's seq. */
uint64_t participant_role(struct channel *channel, enum role role, const char *by);
/* Whoever was attached to an earlier gateway is not any more. */
void participants_left(struct session *session);
/* How many of an earlier gateway's participants wanted every byte. */
unsigned participants_lossless(const struct session *session);

void participant_write(struct writer *writer, const struct channel *channel); /* its map, of PARTICIPANT_KEYS */
uint32_t participants_count(const struct session *session);
/* The array `participants`: at most the newest MOST. */
void participants_write(struct writer *writer, const struct session *session, uint32_t most);

#endif
