/*
 * options.h: the command line of sandbard, as one table.
 */
#ifndef SANDBAR_OPTIONS_H
#define SANDBAR_OPTIONS_H

#include "config_file.h"
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

struct host_list {
	size_t count;
	const char *host[GATEWAY_HOSTS];
};

struct options {
	struct listen_list listen;
	struct origin_list origins;
	struct host_list hosts;
	const char *config;             /* NULL: none */
	int templates;                  /* memfd, of config_file_read(); -1 = none */
	const char *state;              /* NULL: the standard directory */
	const char *user;               /* NULL: the standard user */
	const char *tls_cert, *tls_key; /* both, or NULL */
	unsigned log_format, log_level;
	uint64_t ring_bytes, max_sessions, max_connections, warm, ttl_ms, drain_ms;
	uint64_t tenant_sessions, tenant_memory, tenant_processes, tenant_starts;
	uint64_t record_bytes, keep_sessions, keep_bytes, keep_age_ms;
	bool allow_plaintext;
	bool doctor, json, help, help_markdown, version;
};

extern const struct flags_table options_table;

/* Without TLS or --allow-plaintext only loopback is listened on. */
int options_check_address(const struct options *options, const struct listen_address *address, struct error *err);

/* Texts of OPTIONS point into argv and FILE (may be NULL: then a configuration file is not read), which live as long.
 * -1: what was wrong, and what is allowed. */
int options_parse(struct options *options, struct config_file *file, int argc, char **argv, struct error *err);

#endif
