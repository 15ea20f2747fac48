#include "server.h"
#include "activation.h"
#include "keeper.h"
#include "notify.h"
#include "program.h"
#include "server/base/log.h"
#include "server/base/template.h"
#include "state.h"
#include "supervisor.h"
#include "worker.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

struct server {
	const struct options *options;
	struct state state;
	pid_t holder; /* of the state directory, where it is another server's */
	bool has_state;
	int init, worker; /* programs */
	struct gateway_launch launch;
	struct listen_address first; /* listener, as bound */
	struct notify notify;
	struct sandbox_host *host;
	struct keeper *keeper;
};

static int open_state(struct server *server, struct error *err)
{
	char standard[PATH_MAX];
	const char *path = server->options->state;
	if (!path && state_standard_path(standard, err) < 0)
		return -1;
	if (state_open(&server->state, path ? path : standard, &server->holder, err) < 0)
		return -1;
	server->has_state = true;
	state_remove_address(&server->state); /* of a server that was killed */
	return 0;
}

enum {
	SANDBOX_DESCRIPTORS = 16, /* that an idle sandbox takes here, at most: its cgroups, its init */
	LEAST_DESCRIPTORS = 128,  /* with which a server serves at all, a session or two */
};

/* As many descriptors as the hard limit allows: each sandbox takes some here, each connection one in the gateway. What
 * does not fit is an error of that session; that it may come to that is told now. */
static int raise_descriptors(struct server *server, struct error *err)
{
	struct rlimit limit;
	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return error_set(err, errno, "getrlimit");
	if (limit.rlim_max < LEAST_DESCRIPTORS)
		return error_set(err, 0,
		                 "the limit of open files is %llu, and must be %d at least (`ulimit -Hn`, LimitNOFILE=)",
		                 (unsigned long long)limit.rlim_max, LEAST_DESCRIPTORS);
	limit.rlim_cur = limit.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &limit) < 0)
		return error_set(err, errno, "setrlimit");
	if ((server->options->max_sessions + server->options->warm) * SANDBOX_DESCRIPTORS > limit.rlim_max)
		log_write(LOG_WARN, NULL, "the limit of open files is low for so many sessions",
		          LOG_FIELDS(log_number("open_files", (int64_t)limit.rlim_max),
		                     log_number("sessions", (int64_t)server->options->max_sessions)));
	return 0;
}

static int open_programs(struct server *server, struct error *err)
{
	server->init = program_open("sandbar-init", err);
	server->launch.program = program_open("sandbard-gateway", err);
	server->worker = program_open("sandbard-worker", err);
	server->launch.pages = program_open_pages(err);
	return server->init < 0 || server->launch.program < 0 || server->worker < 0 || server->launch.pages < 0 ? -1 : 0;
}

/* At the first start they are made, later they are checked: a server to which nobody can come does not start. */
static int make_keys(struct server *server, struct error *err)
{
	char *argv[] = {(char *)(uintptr_t) "sandbar-keys", server->state.path, NULL};
	int program = program_open(argv[0], err);
	if (program < 0)
		return -1;
	int result = program_run(program, argv, err);
	close(program);
	if (result < 0)
		return error_prefix(err, "the keys in `%s`", server->state.path);
	server->launch.key = state_open_key(&server->state, err);
	return server->launch.key < 0 ? -1 : 0;
}

static int open_directories(struct server *server, struct error *err)
{
	const struct identity *identity = &server->launch.identity;
	server->launch.sessions = state_open_for(&server->state, "sessions", identity->uid, identity->gid, err);
	if (server->launch.sessions >= 0)
		server->launch.tokens = state_open_for(&server->state, "tokens", identity->uid, identity->gid, err);
	return server->launch.sessions < 0 || server->launch.tokens < 0 ? -1 : 0;
}

static void add_listener(struct server *server, int fd, const struct listen_address *address)
{
	struct gateway_config *config = &server->launch.config;
	if (config->listeners == 0)
		server->first = *address;
	listen_address_format(address, config->listen[config->listeners], sizeof config->listen[0]);
	server->launch.listeners[config->listeners++] = fd;
}

/* Sockets that were handed over stand for --listen. 1: there are some. */
static int take_activated(struct server *server, struct error *err)
{
	int fds[GATEWAY_LISTENERS];
	struct listen_address addresses[GATEWAY_LISTENERS];
	int count = activation_take(fds, addresses, GATEWAY_LISTENERS, err);
	for (int i = 0; i < count; i++) {
		if (options_check_address(server->options, &addresses[i], err) < 0)
			return -1;
		add_listener(server, fds[i], &addresses[i]);
	}
	return count < 0 ? -1 : count > 0;
}

static int open_listeners(struct server *server, struct error *err)
{
	int taken = take_activated(server, err);
	for (size_t i = 0; taken == 0 && i < server->options->listen.count; i++) {
		struct listen_address address = server->options->listen.address[i];
		int fd = listener_open(&address, err);
		if (fd < 0)
			return -1;
		add_listener(server, fd, &address);
	}
	return taken < 0 ? -1 : 0;
}

static int open_tls(struct server *server, struct error *err)
{
	const struct options *options = server->options;
	server->launch.config.tls = options->tls_cert != NULL;
	if (!options->tls_cert)
		return 0;
	return tls_files_open(&server->launch.tls, options->tls_cert, options->tls_key, err);
}

static int open_templates(struct server *server, struct error *err)
{
	int templates = server->options->templates;
	server->launch.templates = templates >= 0 ? templates : config_file_no_templates(err);
	return server->launch.templates < 0 ? -1 : 0;
}

static int create_host(struct server *server, struct error *err)
{
	char name[32];
	char staging[PATH_MAX];
	state_name(&server->state, name);
	if (state_make_root(&server->state, staging, err) < 0)
		return -1;
	struct sandbox_host_options options = {.init_fd = server->init, .cgroup_name = name, .staging = staging};
	server->host = sandbox_host_create(&options, err);
	if (!server->host)
		return error_prefix(err, "no sandbox can be made here (see sandbard --doctor)");
	int swept = sandbox_host_sweep(server->host, err);
	if (swept > 0)
		log_write(LOG_WARN, NULL, "an earlier run left cgroups, which were removed",
		          LOG_FIELDS(log_number("count", swept)));
	return swept < 0 ? -1 : 0;
}

/* Only now: while the host was prepared, this process had to write its own id maps, and an undumpable one may not. */
static int become_undumpable(struct server *server, struct error *err)
{
	(void)server;
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		return error_set(err, errno, "PR_SET_DUMPABLE");
	return 0;
}

static int create_keeper(struct server *server, struct error *err)
{
	/* Those that stand ready are no sessions yet. */
	server->keeper = keeper_create(server->host, (uint32_t)server->options->max_sessions + WARM_MOST, err);
	if (!server->keeper)
		return -1;
	const struct worker_launch launch = {.program = server->worker, .identity = server->launch.identity};
	keeper_set_worker(server->keeper, &launch);
	return 0;
}

static int fill_config(struct server *server, struct error *err)
{
	(void)err;
	const struct options *options = server->options;
	struct gateway_config *config = &server->launch.config;
	config->size = sizeof *config;
	config->log_format = options->log_format;
	config->log_level = options->log_level;
	config->max_sessions = (uint32_t)options->max_sessions;
	config->max_connections = (uint32_t)options->max_connections;
	config->tenant_sessions = (uint32_t)options->tenant_sessions;
	config->tenant_memory = options->tenant_memory;
	config->tenant_processes = (uint32_t)options->tenant_processes;
	config->tenant_starts = (uint32_t)options->tenant_starts;
	config->warm = (uint32_t)options->warm;
	config->ring_bytes = options->ring_bytes;
	config->ttl_ms = (uint32_t)options->ttl_ms;
	config->record_bytes = options->record_bytes;
	config->keep_sessions = options->keep_sessions;
	config->keep_bytes = options->keep_bytes;
	config->keep_age_ms = options->keep_age_ms;
	config->layers = *sandbox_host_layers(server->host);
	for (size_t i = 0; i < options->origins.count; i++)
		snprintf(config->origin[config->origins++], GATEWAY_TEXT_BYTES, "%s", options->origins.origin[i]);
	for (size_t i = 0; i < options->hosts.count; i++)
		snprintf(config->public_host[config->public_hosts++], GATEWAY_TEXT_BYTES, "%s", options->hosts.host[i]);
	config->drain_ms = (uint32_t)options->drain_ms;
	return 0;
}

static int block_signals(struct server *server, struct error *err)
{
	(void)server;
	return supervisor_block_signals(err);
}

static int (*const steps[])(struct server *, struct error *) = {
	open_state,     raise_descriptors, open_programs,     make_keys,     open_directories, open_templates, open_tls,
	open_listeners, create_host,       become_undumpable, create_keeper, fill_config,      block_signals,
};

/* Where a program of this machine finds the server. */
static void local_url(const struct server *server, char *url, size_t size)
{
	const struct gateway_config *config = &server->launch.config;
	const char *scheme = config->tls ? "https" : "http", *port = strrchr(config->listen[0], ':');
	bool is_v6 = config->listen[0][0] == '[';
	if (listen_address_is_wildcard(&server->first))
		snprintf(url, size, "%s://%s%s", scheme, is_v6 ? "[::1]" : "127.0.0.1", port);
	else
		snprintf(url, size, "%s://%s", scheme, config->listen[0]);
}

/* The address file first: who reads our line may look at it. */
static void serving(void *owner, bool first)
{
	struct server *server = owner;
	const struct gateway_config *config = &server->launch.config;
	struct error err;
	char url[GATEWAY_TEXT_BYTES + 16];
	local_url(server, url, sizeof url);
	if (state_write_address(&server->state, url, &err) < 0)
		log_write(LOG_ERROR, NULL, "the address is not written", LOG_FIELDS(log_text("error", err.message)));
	for (uint32_t i = 0; first && i < config->listeners; i++)
		printf("sandbard: listening on %s://%s\n", config->tls ? "https" : "http", config->listen[i]);
	fflush(stdout);
	notify_send(&server->notify, "READY=1\nSTATUS=serving");
	log_write(LOG_INFO, NULL, "serving",
	          LOG_FIELDS(log_text("address", config->listen[0]), log_number("epoch", (int64_t)config->epoch)));
}

/* Under the number that the old one has. */
static int reopen_program(int program, const char *name, struct error *err)
{
	int fd = program_open(name, err);
	if (fd < 0)
		return -1;
	int result = dup3(fd, program, O_CLOEXEC) < 0 ? error_set(err, errno, "dup3") : 0;
	close(fd);
	return result;
}

/* The host goes on with its own number. A sandbox that lives keeps its init. */
static int reopen(void *owner, struct error *err)
{
	struct server *server = owner;
	if (reopen_program(server->init, "sandbar-init", err) < 0 ||
	    reopen_program(server->launch.program, "sandbard-gateway", err) < 0)
		return -1;
	return reopen_program(server->worker, "sandbard-worker", err);
}

static int reload(void *owner, struct error *err)
{
	struct server *server = owner;
	struct tls_files files;
	if (!server->launch.config.tls)
		return 0;
	if (tls_files_open(&files, server->options->tls_cert, server->options->tls_key, err) < 0)
		return -1;
	tls_files_close(&server->launch.tls);
	server->launch.tls = files;
	return 1;
}

static void stopping(void *owner)
{
	const struct server *server = owner;
	notify_send(&server->notify, "STOPPING=1\nSTATUS=stopping");
}

static uint64_t tick(void *owner)
{
	const struct server *server = owner;
	if (server->notify.watchdog_ns == 0)
		return UINT64_MAX;
	notify_send(&server->notify, "WATCHDOG=1");
	return server->notify.watchdog_ns;
}

static void finish(struct server *server)
{
	if (server->has_state)
		state_remove_address(&server->state);
	if (server->keeper && keeper_boxes(server->keeper) > 0)
		return; /* what outlived its kill still hangs on the host, which ends with this process */
	keeper_destroy(server->keeper);
	sandbox_host_destroy(server->host);
	for (uint32_t i = 0; i < server->launch.config.listeners; i++)
		close(server->launch.listeners[i]);
	if (server->has_state)
		state_close(&server->state);
}

int server_run(const struct options *options)
{
	static const struct supervisor_events events = {
		.serving = serving, .reopen = reopen, .reload = reload, .stopping = stopping, .tick = tick};
	struct server server = {
		.options = options,
		.init = -1,
		.worker = -1,
		.launch = {.program = -1, .sessions = -1, .key = -1, .tokens = -1, .templates = -1, .tls = {-1, -1}}};
	struct error err;
	int code = identity_find(&server.launch.identity, options->user, &err) < 0 ? EXIT_USAGE : EXIT_STOPPED;
	notify_init(&server.notify);
	log_init("sandbard", options->log_format == LOG_JSON, (enum log_severity)options->log_level);
	for (size_t i = 0; i < sizeof steps / sizeof steps[0] && code == EXIT_STOPPED; i++)
		if (steps[i](&server, &err) < 0)
			code = server.holder ? EXIT_IN_USE : EXIT_CANNOT;
	if (code == EXIT_STOPPED)
		code = supervisor_run(server.keeper, &server.launch, &events, &server);
	else
		fprintf(stderr, "sandbard: %s\n", err.message);
	finish(&server);
	notify_finish(&server.notify);
	return code;
}
