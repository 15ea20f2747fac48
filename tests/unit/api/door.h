/*
 * door.h: a door of a test: it keeps the answers that methods give, and the channels that they attach.
 */
#ifndef SANDBAR_TESTS_DOOR_H
#define SANDBAR_TESTS_DOOR_H

#include "server/api/call.h"
#include "tests/unit/session/house.h"
#include "tests/unit/session/values.h"

enum { DOOR_ANSWERS = 600, DOOR_CHANNELS = 4 };

struct door_answer {
	bool is_error;
	uint8_t *bytes;
	size_t length;
};

struct front { /* a caller with its door, before a server over the recorded driver */
	struct caller caller;
	struct house house; /* its loop and driver; its own registry stays empty */
	struct server server;
	struct door_answer answers[DOOR_ANSWERS]; /* by the request's id */
	struct channel *channels[DOOR_CHANNELS];
};

/* RIGHTS: of the caller, who is ada of tenant "default". */
void front_open(struct front *front, uint32_t rights);
void front_close(struct front *front);

/* Call METHOD with the map that PARAMS holds (NULL: nothing). */
void front_call(struct front *front, uint32_t id, const char *method, const struct writer *params);
bool front_is_answered(const struct front *front, uint32_t id);
struct reader front_result(struct front *front, uint32_t id); /* it must have been answered */
struct reader front_error(struct front *front, uint32_t id);  /* it must have been failed */
void front_expect_error(struct front *front, uint32_t id, const char *code);
/* Make a session; its id. */
const char *front_session(struct front *front, uint32_t id);

#endif
