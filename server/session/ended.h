/*
 * ended.h: what becomes of a session once its last event was written: channels fetch it, its record is finished, and it is
 * kept (kept.h) or removed.
 */
#ifndef SANDBAR_ENDED_H
#define SANDBAR_ENDED_H

struct session;

/* Record it from here on, if it is to be recorded. */
void session_record(struct session *session);
/* Its last event stands in the journal. May free it. */
void session_ended(struct session *session);
/* Its time for an end is over: who did not fetch anything lately is cut off; what is not recorded by now stays so. */
void session_ended_deadline(struct session *session);

#endif
