/*
 * session_file.h: what changes rarely of a session, as a JSON file in its directory, replaced as a whole.
 */
#ifndef SANDBAR_SESSION_FILE_H
#define SANDBAR_SESSION_FILE_H

#include "session.h"

#define SESSION_FILE "session.json"

/* Write name, tenant, environment, limits, time to live and, where it is ending, why. -1 on error. */
int session_file_save(const struct session *session, struct error *err);

/* Fill a session that has its id and journal with what the file in DIRECTORY says. -1 on error. */
int session_file_load(struct session *session, int directory, struct error *err);

#endif
