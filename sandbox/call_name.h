/*
 * call_name.h: what a system call is called.
 */
#ifndef SANDBAR_CALL_NAME_H
#define SANDBAR_CALL_NAME_H

enum { CALL_NAME_BYTES = 32 }; /* with its NUL */

/* The name of call NUMBER on this architecture; in digits, where libseccomp does not know it. */
void call_name(int number, char name[CALL_NAME_BYTES]);

#endif
