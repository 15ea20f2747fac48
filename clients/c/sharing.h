/*
 * sharing.h: what sandbar.v1 tells of a shared session (PROTOCOL.md, sections 3.5 and 4) as the structs of sandbar.h.
 * Readers stand after the frame's kind, and in an event after `seq` and `t`, which the caller fills in. False: the frame
 * is not of the form that sandbar.v1 gives it.
 */
#ifndef SANDBAR_CLIENT_SHARING_H
#define SANDBAR_CLIENT_SHARING_H

#include "sandbar.h"
#include "protocol/reader.h"

bool sharing_participant(struct reader *fields, struct sandbar_participant *participant);
bool sharing_driver(struct reader *fields, struct sandbar_driver *driver);
bool sharing_note(struct reader *fields, struct sandbar_note *note);
bool sharing_screen(struct reader *fields, struct sandbar_screen *screen);
bool sharing_checkpoint(struct reader *fields, struct sandbar_screen *screen);

/* An integer of at most 32 bits; the reader stays where it is if it is none. */
bool sharing_u32(struct reader *reader, uint32_t *value);

#endif
