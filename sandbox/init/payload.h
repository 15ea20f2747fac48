/*
 * payload.h: the arguments, the environment and the directory of a START, in a sealed memfd, mapped read-only.
 */
#ifndef SANDBAR_INIT_PAYLOAD_H
#define SANDBAR_INIT_PAYLOAD_H

#include <stddef.h>
#include <stdint.h>

struct payload {
	char *bytes; /* mapped, private; never written */
	size_t size;
	uint32_t argc, envc;
	const char *cwd; /* points into it; absolute */
};

/* Map FD (borrowed) and check all that wire.h says of it. Returns 0, or an errno: EPERM it is not sealed, EFBIG too
 * large, EINVAL its strings are not as announced, ENOTDIR the directory is not absolute; ENOMEM where mapping failed. */
int payload_map(struct payload *payload, int fd, uint32_t argc, uint32_t envc);
void payload_unmap(struct payload *payload);

/* The strings as execve(2) wants them, in memory of their own that is never freed: for a child about to execute.
 * (*ARGV)[-1] may be written too, for the shell's sake. Returns 0, or -1 with errno. */
int payload_vectors(const struct payload *payload, char ***argv, char ***envp);

#endif
