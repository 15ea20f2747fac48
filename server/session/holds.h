/*
 * holds.h: which processes are held back, since a lossless channel has not taken what they wrote; over a change of gateway,
 * too: the clients of such channels have a while to come back before anything runs on that they would miss.
 */
#ifndef SANDBAR_HOLDS_H
#define SANDBAR_HOLDS_H

#include <stdint.h>

struct channel;
struct process;
struct session;

void holds_init(struct session *session);

/* CHANNEL is lossless from now on: one of those that are waited for, perhaps. */
void holds_join(struct channel *channel);
/* It is lossless no longer, or goes; the caller reconsiders, once that stands in the records. */
void holds_leave(struct channel *channel);

/* How many bytes of PROCESS's output its lossless channels let be read now; 0: it is to be held. One that was killed, or
 * exited a while ago, is held by nobody. */
uint64_t session_lets_read(const struct session *session, const struct process *process);
/* A lossless channel has sent, or gone: processes that it held may go on. */
void session_reconsider_holds(struct session *session);

/* A restored session: as many lossless channels as an earlier gateway had are waited for, for a bounded time. */
void holds_await(struct session *session);
#endif
