/*
 * host.h: under which names the server answers. A page of a stranger can have its own name point here (DNS rebinding);
 * then its browser says that name in Host, and is refused.
 */
#ifndef SANDBAR_HOST_H
#define SANDBAR_HOST_H

#include "inherit.h"

/* HOST as it stands in the header. Allowed are an address that the server listens on, localhost and loopback addresses
 * with any port (a tunnel has its own), any address where it listens on all of them, and the names it was given. */
bool host_is_allowed(const struct gateway_config *config, const char *host);

#endif
