/*
 * folder.h: a directory of its own for each test of what is kept in files.
 */
#ifndef SANDBAR_TESTS_FOLDER_H
#define SANDBAR_TESTS_FOLDER_H

/* Make it; its descriptor, until folder_close(). */
int folder_open(void);
/* Remove it with the files NAMES, ended by NULL, as far as they are there; asserts that no other was left. */
void folder_close(const char *const *names);

#endif
