/*
 * inherit.h: what the keeper hands to a gateway when it executes it: descriptors at fixed numbers, and the
 * configuration as one fixed struct in a sealed memfd. The gateway's argv is only its name, its environment is empty
 * (but for the sanitizers' options in an instrumented build).
 */
#ifndef SANDBAR_GATEWAY_INHERIT_H
#define SANDBAR_GATEWAY_INHERIT_H

#include "sandbox/layer.h"

#include <stdint.h>

enum inherit_fd {
	INHERIT_KEEPER = 3,    /* SOCK_SEQPACKET: request.h */
	INHERIT_SESSIONS = 4,  /* directory STATE/sessions, owned by the gateway's user */
	INHERIT_KEY = 5,       /* STATE/signing.key, read-only: see guard/key.h */
	INHERIT_CONFIG = 6,    /* memfd: struct gateway_config */
	INHERIT_TOKENS = 7,    /* directory STATE/tokens, owned by the gateway's user */
	INHERIT_TEMPLATES = 8, /* memfd: struct template, one behind the other */
	INHERIT_NEWS = 9,      /* SOCK_SEQPACKET, one way: struct gateway_news */
	INHERIT_PAGES = 10,    /* the folder of what browsers are shown, read once; no folder: there are none */
	INHERIT_LISTENERS = 11 /* the first of config.listeners listening sockets */
};

/* A gateway's exit code: the next one could not start either, and why was logged. */
enum { GATEWAY_CANNOT = 78 };

enum { GATEWAY_LISTENERS = 8, GATEWAY_ORIGINS = 16, GATEWAY_HOSTS = 8, GATEWAY_TEXT_BYTES = 128 };

enum log_format { LOG_TEXT, LOG_JSON };

/* What the keeper tells by itself. */
enum gateway_news_type { NEWS_TLS = 1 /* with two descriptors: the files of the certificate and of the key */ };
struct gateway_news {
	uint32_t type;
};

struct gateway_config {
	uint32_t size; /* sizeof(struct gateway_config): another one is refused */
	uint32_t listeners;
	uint32_t tls;                                    /* 1: the first news are the files of TLS */
	uint32_t log_format;                             /* enum log_format */
	uint32_t log_level;                              /* 0 error, 1 warn, 2 info, 3 debug */
	uint32_t max_sessions;                           /* at once */
	uint32_t max_connections;                        /* at once */
	uint32_t tenant_sessions;                        /* of one tenant, at once; 0 = no limit, here and below */
	uint64_t tenant_memory;                          /* bytes: the sum of its sessions' limits */
	uint32_t tenant_processes;                       /* at once */
	uint32_t tenant_starts;                          /* of sessions and processes, a minute */
	uint64_t ring_bytes;                             /* of each session's journal; a multiple of the page size */
	uint64_t record_bytes;                           /* of each session's record on disk; 0 = nothing is recorded */
	uint64_t keep_sessions, keep_bytes, keep_age_ms; /* bounds of ended sessions' records; one of them 0 = none */
	uint32_t after_failure;                          /* 1: the one before crashed, or hung */
	uint32_t reserved;
	uint64_t epoch;                                      /* rises with each gateway that the keeper starts */
	uint32_t origins;                                    /* used rows of `origin` */
	uint32_t ttl_ms;                                     /* default session time to live; 0 = none */
	uint32_t drain_ms;                                   /* between SIGTERM and the end of the sessions */
	uint32_t warm;                                       /* sandboxes of the template `default` that stand ready */
	uint32_t public_hosts;                               /* used rows of `public_host` */
	char public_host[GATEWAY_HOSTS][GATEWAY_TEXT_BYTES]; /* names in Host beside the addresses: "name[:port]" */
	char origin[GATEWAY_ORIGINS][GATEWAY_TEXT_BYTES];    /* allowed beside the server's own; "https://host[:port]" */
	char listen[GATEWAY_LISTENERS][GATEWAY_TEXT_BYTES];  /* "127.0.0.1:7433", as bound, for the page and the logs */
	struct layer_report layers;
};

#endif
