/*
 * session_id.h: how a session is named: 16 random characters of [a-z2-7], safe in host names, cgroups and files.
 */
#ifndef SANDBAR_SESSION_ID_H
#define SANDBAR_SESSION_ID_H

#include "sandbox/driver.h"

void session_id_make(char id[SESSION_ID_LENGTH + 1]); /* 80 random bits, ended by NUL */

#endif
