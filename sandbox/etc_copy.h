/*
 * etc_copy.h: what a sandbox sees of the host's /etc: a short list of entries, copied when the tree is built.
 */
#ifndef SANDBAR_ETC_COPY_H
#define SANDBAR_ETC_COPY_H

#include "error.h"

/* Copy the listed entries of HOST_ETC that exist into the directory behind ETC_FD. Only what every user of the host
 * may read is copied: directories, regular files, and symbolic links as they are. Bounded in bytes, depth and number. */
int etc_copy(int host_etc, int etc_fd, struct error *err);

#endif
