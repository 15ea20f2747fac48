/*
 * denial.h: refused system calls, as events of the session in which they were made.
 */
#ifndef SANDBAR_DENIAL_H
#define SANDBAR_DENIAL_H

#include <stdint.h>

/* What the driver tells (`denied` of sandbox/driver.h). OWNER is the session. */
void session_denied(void *owner, uint32_t process, const char *call, uint32_t thread, uint64_t count);

#endif
