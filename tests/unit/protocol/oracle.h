/*
 * oracle.h: what msgpack-c, somebody else's parser, says of the same bytes. The unit tests and the fuzz target of
 * protocol/ compare with it.
 */
#ifndef SANDBAR_TESTS_ORACLE_H
#define SANDBAR_TESTS_ORACLE_H

#include "protocol/reader.h"

/* True if msgpack-c finds the same values as a reader in all of DATA, to the last byte. */
bool oracle_agrees(const void *data, size_t length);

#endif
