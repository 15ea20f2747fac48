/*
 * namespaces.h: the driver `namespaces`: sandboxes that the keeper makes on this host, each with an init of its own.
 *
 * It implements sandbox/driver.h over the keeper's socket and each init's, on the caller's loop; single-threaded.
 * Besides what driver.h says: after destroy() only `destroyed` comes; a wait_status of -1 means that how the process
 * ended cannot be known (its subreaper was killed, on a host without cgroups); `start_failed` ends the process for the
 * driver, forget() is not needed then; what is asked of a process that it does not know is answered all the same.
 *
 * Of an adopted sandbox, until `synced`: kill, signal and close_stdin of a process that is not told yet wait until it
 * is; a start waits for `synced`, and fails if its number turns out to be taken; forget has no effect on what is not
 * told yet, which is told all the same.
 */
#ifndef SANDBAR_NAMESPACES_H
#define SANDBAR_NAMESPACES_H

#include "sandbox/driver.h"

#include <ev.h>

/* KEEPER_FD (INHERIT_KEEPER) is the driver's from here on. KEEPER_GONE(OWNER) is called once, from the loop, when the
 * keeper has left: every sandbox dies with it (each tells `lost`, or what it was asked for), and none can be made. */
struct driver *namespaces_driver_create(struct ev_loop *loop, int keeper_fd, void (*keeper_gone)(void *owner),
                                        void *owner);
/* NULL is allowed. Sandboxes that are left are forgotten, without an event: they wait for the next gateway. Not to be
 * called from an event. */
void namespaces_driver_destroy(struct driver *driver);

/* Tell the keeper that this gateway serves. It then destroys what was not adopted. */
void namespaces_driver_ready(struct driver *driver);

/* Keep COUNT sandboxes like SPEC (whose id does not count) ready; a call for each kind (warm.h). Make no more, and destroy
 * those that are there, since the server stops. How many are ready now. */
void namespaces_driver_keep_warm(struct driver *driver, const struct sandbox_spec *spec, unsigned count);
void namespaces_driver_stop_warm(struct driver *driver);
size_t namespaces_driver_warm(const struct driver *driver);

/* Ask the keeper for a worker process. HIRED gets its socket, or -1; it is not called when the keeper is gone. */
void namespaces_driver_hire(struct driver *driver, void (*hired)(void *owner, int socket), void *owner);

#endif
