/*
 * sandbox.h: making and ending one sandbox of the tier `namespaces`, from a small privileged process (the keeper).
 *
 * A host (struct sandbox_host) is prepared once: the golden root tree in the keeper's own mount namespace, the
 * seccomp programs, the cgroup driver and the parent cgroup. A sandbox is cloned from it. The order in which the
 * layers are put on, and why, is told in child.c.
 */
#ifndef SANDBAR_SANDBOX_H
#define SANDBAR_SANDBOX_H

#include "driver.h"

#include <sys/types.h>

struct sandbox_host;

struct sandbox_host_options {
	int init_fd;             /* the static init program, opened O_PATH or O_RDONLY; borrowed for the host's life */
	const char *cgroup_name; /* directory below the own cgroup, e.g. "sandbar-3f2a"; [a-z0-9-]{1,40} */
	const char *staging;     /* an empty directory that the caller owns: the golden tree is mounted on it */
};

/* Prepare this process: it gets a mount namespace of its own (and, without root, a user namespace). NULL on error. */
struct sandbox_host *sandbox_host_create(const struct sandbox_host_options *options, struct error *err);
void sandbox_host_destroy(struct sandbox_host *host); /* NULL is allowed; asserts that no sandbox is left */
const struct layer_report *sandbox_host_layers(const struct sandbox_host *host);
/* Remove cgroups that an earlier run with the same cgroup_name prefix left. Returns how many, or -1. */
int sandbox_host_sweep(struct sandbox_host *host, struct error *err);

struct sandbox_box; /* one sandbox, on the keeper's side */

/* Make one: returns when init has confined itself and waits for requests. *INIT_SOCKET becomes the other end of
 * init's SEQPACKET pair (close-on-exec; the caller's). NULL on error, and then nothing of it is left. */
struct sandbox_box *sandbox_box_create(struct sandbox_host *host, const struct sandbox_spec *spec, int *init_socket,
                                       struct error *err);
int sandbox_box_pidfd(const struct sandbox_box *box); /* of init; readable when it has died; borrowed */

/* Kill everything in it at once (no waiting); thaws first where a frozen task would not die. */
void sandbox_box_kill(struct sandbox_box *box);
/* After a kill: true when init was reaped and every cgroup of it is gone (they are removed on the way). Never blocks. */
bool sandbox_box_is_gone(struct sandbox_box *box);
void sandbox_box_destroy(struct sandbox_box *box); /* NULL is allowed; frees what is_gone() has found gone */

/* Leaves: a cgroup for each process. Without cgroups, leaf() gives 0 descriptors and the others return -1 with ENOSYS. */
/* Make the leaf of PROCESS; FDS get its cgroup.procs, opened for writing (close-on-exec; the caller's). Returns their number. */
int sandbox_box_leaf(struct sandbox_box *box, uint32_t process, int fds[8], struct error *err);
/* The descriptors of a leaf again, which sandbox_box_leaf() has made. */
int sandbox_box_leaf_open(struct sandbox_box *box, uint32_t process, int fds[8], struct error *err);
int sandbox_box_leaf_kill(struct sandbox_box *box, uint32_t process, struct error *err);
/* 1 if nothing lives in it, 0 if something does, -1 on error. */
int sandbox_box_leaf_is_empty(struct sandbox_box *box, uint32_t process, struct error *err);
/* A descriptor that polls (POLLPRI) when that may have changed, or -1 (then poll by time); borrowed. */
int sandbox_box_leaf_events_fd(struct sandbox_box *box, uint32_t process);
int sandbox_box_leaf_usage(struct sandbox_box *box, uint32_t process, struct process_usage *usage, struct error *err);
int sandbox_box_leaf_remove(struct sandbox_box *box, uint32_t process, struct error *err); /* must be empty */
/* What can be known of the whole sandbox. */
void sandbox_box_measure(struct sandbox_box *box, struct sandbox_usage *usage);
int sandbox_box_freeze(struct sandbox_box *box, bool frozen, struct error *err);

#endif
