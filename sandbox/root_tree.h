/*
 * root_tree.h: the golden root tree, built once and cloned for each sandbox. It holds nothing of any session.
 */
#ifndef SANDBAR_ROOT_TREE_H
#define SANDBAR_ROOT_TREE_H

#include "error.h"

/* Build it, attached, on the directory STAGING of this process's own (private) mount namespace. */
int root_tree_build(const char *staging, struct error *err);

/* A clone of the tree for one sandbox (close-on-exec; the caller's), or -1. Only the process whose mount namespace
 * holds the tree can make it: a child in another namespace gets EINVAL. */
int root_tree_clone(const char *staging, struct error *err);

void root_tree_remove(const char *staging);

#endif
