/*
 * cgroup_tree.h: directories of one hierarchy, with all that is below them.
 */
#ifndef SANDBAR_CGROUP_TREE_H
#define SANDBAR_CGROUP_TREE_H

#include <stdbool.h>

/* Remove NAME in DIR and what is below it, as far as it is empty of processes. True when it is gone. */
bool cgroup_tree_remove(int dir, const char *name);

/* Call EACH with every directory below DIR (not itself), deepest last. */
void cgroup_tree_walk(int dir, void (*each)(int dir, void *context), void *context);

/* Call EACH with the name of every directory in DIR. */
void cgroup_tree_names(int dir, void (*each)(const char *name, void *context), void *context);

#endif
