/*
 * tree.h: all processes that belong to one leader, found by walking /proc.
 *
 * With cgroups they are those whose /proc/PID/cgroup reads as the leader's did: nothing can leave its leaf. Without,
 * they are the descendants of a root. A process is signalled through a pidfd, and only if, after that was opened, it
 * still started when the walk saw it start: an id does not come round within one tick of the clock.
 */
#ifndef SANDBAR_INIT_TREE_H
#define SANDBAR_INIT_TREE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct tree {
	uint64_t cgroup; /* a key; 0: go by descent */
	pid_t root;      /* by descent: from here */
	bool with_root;  /* the root itself is one of them */
	pid_t group;     /* 0, or a process group of the tree that a signal goes to at once, before the walk: what is being
	                  * forked in it gets the signal too, as with a terminal's ^C */
	pid_t without;   /* this one is not; 0 = none */
};

/* A key of the cgroups that PID is in, of all hierarchies together; 0 where it cannot be read. */
uint64_t tree_cgroup_key(pid_t pid);

/* Look for processes in the proc whose root is DIRECTORY, from now on; before, in /proc. */
void tree_look_in(int directory);
int tree_directory(void);

/* The parent of a process or thread; 0 where it has none, or is gone. */
pid_t tree_parent(pid_t pid);

/* Send SIGNO to every process of the tree at this moment. Returns how many live ones were seen, or -1 with errno. */
int tree_signal(const struct tree *tree, int signo);

/* One step of killing: returns how many live ones were seen before it, or -1 with errno. To be repeated until 0. From
 * the second ATTEMPT on, all are stopped before any is killed, so that what forks faster than we walk runs out of room. */
int tree_kill(const struct tree *tree, unsigned attempt);

/* Send SIGNO to PID, if it is a child of PARENT. Returns 0, or -1 with errno (ESRCH: it is not). */
int tree_signal_child(pid_t pid, pid_t parent, int signo);

#endif
