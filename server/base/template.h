/*
 * template.h: a named starting point of sessions, as an operator configured it. A value type of fixed form: it travels
 * from the keeper's reader of the configuration to the gateway as it is.
 */
#ifndef SANDBAR_TEMPLATE_H
#define SANDBAR_TEMPLATE_H

#include <stdint.h>

enum {
	TEMPLATE_NAME_BYTES = 64,
	TEMPLATE_ENV_BYTES = 8192,
	TEMPLATES_MOST = 64,
	WARM_MOST = 64, /* sandboxes that stand ready, of all templates together */
};

#define TEMPLATE_DEFAULT "default" /* of a session that asks for none; built in where the configuration has none */

/* 0 = not said. */
struct limit_set {
	uint64_t memory, processes, cpu, cpu_weight, workspace, inodes, open_files, file_size;
};

struct template
{
	char name[TEMPLATE_NAME_BYTES + 1];
	struct limit_set limits;       /* of a session that does not ask for others */
	struct limit_set most;         /* that a client may ask for; not said = whatever there is */
	uint64_t ttl_ms, most_ttl_ms;  /* 0 = not said */
	uint64_t require_proof_ms;     /* how old the newest proof may be; 0 = none is demanded */
	uint32_t required_layers;      /* bit n = enum layer n */
	uint32_t env_count, env_bytes; /* of `env` */
	uint32_t warm;                 /* sandboxes that stand ready */
	uint32_t profile;              /* of system calls: enum profile + 1; 0 = not said */
	uint32_t user;                 /* who its sessions' processes are: enum inner_user */
	char env[TEMPLATE_ENV_BYTES];  /* "NAME=value", each ended by NUL */
};

#endif
