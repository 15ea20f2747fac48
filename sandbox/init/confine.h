/*
 * confine.h: giving up rights, for init itself and for each child. Every function returns 0, or -1 with errno.
 */
#ifndef SANDBAR_INIT_CONFINE_H
#define SANDBAR_INIT_CONFINE_H

#include <linux/filter.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>

/* True if CAPABILITY (CAP_… of capability.h) is permitted to this process. */
bool confine_has(unsigned capability);

/* Keep of the permitted and effective capabilities only those in the bit set KEEP; nothing is inheritable. */
int confine_capabilities(uint64_t keep);

/* Empty the bounding and the ambient set and lock the securebits, for this process and all it starts. Needs CAP_SETPCAP. */
int confine_bounds(void);

/* Set the limits of RESOURCE (RLIMIT_…), each as far as the hard limit that there is allows. */
int confine_limit(int resource, rlim_t soft, rlim_t hard);

/* Load FILTER with seccomp(2); nothing to do where it is empty. no_new_privs must be on. */
int confine_filter(const struct sock_fprog *filter);

#endif
