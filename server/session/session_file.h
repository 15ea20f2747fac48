/*
 * session_file.h: what changes rarely of a session, as a JSON file in its directory, replaced as a whole.
 */
#ifndef SANDBAR_SESSION_FILE_H
#define SANDBAR_SESSION_FILE_H

#include "session.h"

#define SESSION_FILE "session.json"

/* Write name, tenant, template, environment, limits, time to live and, where it is ending, why. -1 on error. */
int session_file_save(const struct session *session, struct error *err);

/* Fill a session that has its id and journal with what the file in DIRECTORY says. -1 on error. */
int session_file_load(struct session *session, int directory, struct error *err);

/* The end and its reason, in the records: a disk that is full does not refuse that. And back, where they say more than the
 * file did. */
void session_end_store(struct session *session);
void session_end_load(struct session *session);

#endif
