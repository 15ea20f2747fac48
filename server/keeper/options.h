/*
 * options.h: the command line of sandbard, as one table.
 */
#ifndef SANDBAR_OPTIONS_H
#define SANDBAR_OPTIONS_H

#include "listener.h"
#include "server/base/flags.h"
#include "server/gateway/inherit.h"

#include <stdbool.h>

/* What sandbard leaves with. */
enum exit_code {
	EXIT_STOPPED = 0, /* stopped as asked */
	EXIT_CANNOT = 1,  /* it could not start; --doctor: an essential layer is missing */
	EXIT_USAGE = 2,
	EXIT_IN_USE = 3,   /* another server holds the state directory */
	EXIT_GATEWAY = 70, /* gateways die before they serve */
};

struct listen_list {
	size_t count;
	struct listen_address address[GATEWAY_LISTENERS];
};

struct origin_list {
	size_t count;
	const char *origin[GATEWAY_ORIGINS];
};

struct options {
	struct listen_list listen;
	struct origin_list origins;
	const char *state;              /* NULL: the standard directory */
	const char *user;               /* NULL: the standard user */
	const char *tls_cert, *tls_key; /* both, or NULL */
	unsigned log_format, log_level;
	uint64_t ring_bytes, max_sessions, max_connections, tenant_sessions, ttl_ms;
	uint64_t record_bytes, keep_sessions, keep_bytes, keep_age_ms;
	bool allow_plaintext;
	bool doctor, json, help, help_markdown, version;
};

extern const struct flags_table options_table;

/* Texts of OPTIONS point into argv. -1: what was wrong, and what is allowed. */
int options_parse(struct options *options, int argc, char **argv, struct error *err);

#endif
