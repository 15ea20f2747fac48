/*
 * cgroup_file.h: the small files in which the kernel shows a cgroup.
 */
#ifndef SANDBAR_CGROUP_FILE_H
#define SANDBAR_CGROUP_FILE_H

#include "error.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Write TEXT in one call, as these files want it. DIR -1 is ENOENT. */
int cgroup_write(int dir, const char *file, const char *text, struct error *err);
int cgroup_write_number(int dir, const char *file, uint64_t number, struct error *err);

/* Read the whole file (up to SIZE - 1 bytes) and end it by NUL. Returns the length, or -1. */
ssize_t cgroup_read(int dir, const char *file, char *text, size_t size, struct error *err);

/* The number alone in FILE; or, with KEY, the one in the line "KEY number". UINT64_MAX where there is none. */
uint64_t cgroup_read_number(int dir, const char *file, const char *key);

/* The number in the line "KEY number" of TEXT, or UINT64_MAX. */
uint64_t cgroup_find_number(const char *text, const char *key);

/* NUMBER less PART, where both are known. */
uint64_t cgroup_without(uint64_t number, uint64_t part);

#endif
