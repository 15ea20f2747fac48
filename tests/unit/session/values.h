/*
 * values.h: looking into MessagePack that the server made, as a client's code would.
 */
#ifndef SANDBAR_TESTS_VALUES_H
#define SANDBAR_TESTS_VALUES_H

#include "protocol/reader.h"

/* Stand READER before the value of KEY in the map that MAP stands before. False if there is none. */
bool map_find(struct reader map, const char *key, struct reader *value);

/* What stands under KEY, which must be there and of that type. */
uint64_t map_uint(struct reader map, const char *key);
bool map_bool(struct reader map, const char *key);
struct reader map_map(struct reader map, const char *key);
struct reader map_array(struct reader map, const char *key, uint32_t *count); /* stands before the first element */
bool map_is_nil(struct reader map, const char *key);
bool map_is(struct reader map, const char *key, const char *text); /* NULL: nil */
uint32_t map_count(struct reader map);

#endif
