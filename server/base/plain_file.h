/*
 * plain_file.h: opening and reading what should be a regular file of ours, and may be anything else by now.
 */
#ifndef SANDBAR_PLAIN_FILE_H
#define SANDBAR_PLAIN_FILE_H

#include <sys/types.h>

/* openat(2) with O_CLOEXEC and O_NOFOLLOW, which never waits: -1 with ENXIO when NAME is no regular file, such as a pipe, whose
 * opening would last until somebody writes to it. */
int plain_file_open(int directory, const char *name, int flags, mode_t mode);
/* All of it, for free(): its *LENGTH bytes and a NUL. NULL with errno: EFBIG for more than MOST bytes. */
char *plain_file_read(int directory, const char *name, size_t most, size_t *length);

#endif
