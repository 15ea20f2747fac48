/*
 * access_file.h: what owners decided (access.h) as a part of the session's file.
 */
#ifndef SANDBAR_ACCESS_FILE_H
#define SANDBAR_ACCESS_FILE_H

#include "access.h"

#include <jansson.h>

json_t *client_json(const uint8_t client[CLIENT_ID_BYTES]); /* as hexadecimal digits */
bool client_from(uint8_t client[CLIENT_ID_BYTES], const json_t *json);

json_t *access_json(const struct access *access);
/* False where JSON is not what access_json() makes: whom it would let in is not known. */
bool access_from(struct access *access, const json_t *json);

#endif
