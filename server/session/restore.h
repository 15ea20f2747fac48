/*
 * restore.h: the sessions that an earlier gateway left, made again from their files, and taken over with what the
 * driver says is still there.
 */
#ifndef SANDBAR_RESTORE_H
#define SANDBAR_RESTORE_H

#include "session.h"

/* Make the sessions in the directory again. One that cannot be read, or in whose loading gateways failed twice
 * (AFTER_FAILURE: the one before crashed or hung), is given up: it ends as lost, of its files only its record is kept, and
 * its sandbox will not be claimed. TELL (may be NULL) hears of each that is given up. */
void sessions_restore(struct sessions *sessions, bool after_failure,
                      void (*tell)(const char *session, const char *why));

/* What driver->adopt() tells them; the context is the struct sessions. on_adopted(owner) is called when
 * every one of them goes on, or is lost. */
extern const struct sandbox_adoption sessions_adoption;

#endif
