/*
 * crowd.h: who is in a session, and who drives one terminal of it: kept from what the wire tells, and said in a line.
 */
#ifndef SANDBAR_COMMAND_CROWD_H
#define SANDBAR_COMMAND_CROWD_H

#include "clients/c/sandbar.h"
#include "protocol/reader.h"

enum { CROWD_MOST = 128, CROWD_LINE_BYTES = 1024 };

struct person {
	uint32_t number;
	char name[65], role[16];
	int64_t typed_ms; /* monotonic; 0: not since we are here */
};

struct crowd {
	uint32_t process; /* the terminal */
	uint32_t me;      /* our own participant */
	struct person people[CROWD_MOST];
	size_t count;
	struct sandbar_driver driver; /* how the terminal is shared; zeroed while that is not known */
};

/* MAP stands before the answer of session.attach, or the map of STATE. Returns whether the terminal is among them. */
bool crowd_begin(struct crowd *crowd, const struct reader *map);
void crowd_participant(struct crowd *crowd, const struct sandbar_participant *participant);
void crowd_driver(struct crowd *crowd, const struct sandbar_driver *driver);
void crowd_typing(struct crowd *crowd, uint32_t participant, int64_t now_ms);

const struct person *crowd_find(const struct crowd *crowd, uint32_t number);
/* We are an editor or an owner. */
bool crowd_may_edit(const struct crowd *crowd);
/* What we type is taken: an editor, and nobody else drives in the mode `driver`. */
bool crowd_may_type(const struct crowd *crowd);
bool crowd_drives(const struct crowd *crowd, uint32_t number);
bool crowd_asks(const struct crowd *crowd, uint32_t number);

/* "alice drives · bob asks · 3 here · you: editor", with names that cannot steer a terminal. */
void crowd_line(const struct crowd *crowd, int64_t now_ms, char line[CROWD_LINE_BYTES]);
/* "2 bob (editor), asks": one person. */
void crowd_person_line(const struct crowd *crowd, const struct person *person, char line[CROWD_LINE_BYTES]);

#endif
