/*
 * session_id.h: how a session is named: random characters of [a-z2-7], safe in host names, cgroups and files.
 */
#ifndef SANDBAR_SESSION_ID_H
#define SANDBAR_SESSION_ID_H

#include <stddef.h>

void session_id_make(char *id, size_t length); /* LENGTH characters of 5 random bits each, at most 64, ended by NUL */

#endif
