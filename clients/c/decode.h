/*
 * decode.h: the maps of sandbar.v1 as the structs of sandbar.h. Readers stand before the map; unknown keys are
 * skipped, missing ones leave the field as a missing value (0, "", -1).
 */
#ifndef SANDBAR_CLIENT_DECODE_H
#define SANDBAR_CLIENT_DECODE_H

#include "sandbar.h"
#include "protocol/reader.h"

/* A row for each key that is understood: READ gets the reader before the value, and must not move it on failure. */
struct decode_key {
	const char *key;
	bool (*read)(struct reader *reader, void *into);
};

/* Read a map by KEYS (ended by a NULL key). False if it is not a map. */
bool decode_map(struct reader *reader, const struct decode_key *keys, void *into);

bool decode_error(struct reader *reader, struct sandbar_error *error);
/* Also the number in its `data`, of the key NAME (`expected`, `accepted`, `to`); false if it has none. */
bool decode_error_number(struct reader data, const char *name, uint64_t *number);
bool decode_ending(struct reader *reader, struct sandbar_ending *ending);
/* {stdout: n, …} into its offsets and has_offset. */
bool decode_offsets(struct reader *reader, struct sandbar_ending *ending);
/* Cut to what fits, never inside a UTF-8 sequence. */
void decode_text(char *into, size_t size, struct view text);

#endif
