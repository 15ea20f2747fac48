/*
 * subreaper.h: where a host has no cgroups, each process gets a parent that adopts what its descendants orphan, so
 * that all of them stay below it. It is a copy of init without rights, lives until the last of them is gone, and
 * then ends: that init has reaped it, and it was not killed, means that the tree is empty (INIT_EMPTY).
 *
 * In root mode it keeps init's id, and the user's processes cannot touch it. In user mode they can kill it: the process
 * is lost then, and what it left can only be ended with the sandbox. (They can stop it, too: init continues it.)
 */
#ifndef SANDBAR_INIT_SUBREAPER_H
#define SANDBAR_INIT_SUBREAPER_H

#include "child.h"

/* Start the leader by PLAN, below this process. Its ending is put into the note, and then INDEX written to REPORTS. */
_Noreturn void subreaper_run(const struct child_plan *plan, int reports, uint32_t index);

#endif
