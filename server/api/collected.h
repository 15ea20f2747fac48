/*
 * collected.h: what the requests of a session keep in memory until they are answered: commands that wait for their shell,
 * and output that is collected for an answer. All of a session's together are bounded (PROTOCOL §8, `session.info`).
 */
#ifndef SANDBAR_COLLECTED_H
#define SANDBAR_COLLECTED_H

#include "protocol/writer.h"
#include "server/session/session.h"

enum { COLLECTED_MOST = 16 * 1024 * 1024 }; /* bytes */

/* Append as much to STREAM, which may have *MOST bytes, as the session has room for. False: that was not all, and *MOST is
 * what it has, since nothing may come behind a piece that is missing. */
bool collected_append(struct session *session, struct writer *stream, uint64_t *most, const uint8_t *bytes,
                      size_t length);
/* Free STREAM, and give back what it has. */
void collected_finish(struct session *session, struct writer *stream);
/* Whether the session has room for LENGTH bytes, which then count until collected_give(). */
bool collected_take(struct session *session, size_t length);
void collected_give(struct session *session, size_t length);

#endif
