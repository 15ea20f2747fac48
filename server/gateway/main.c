/*
 * sandbard-gateway: started by the keeper with the descriptors of inherit.h; never by hand.
 */
#include "confine.h"
#include "connection.h"
#include "driver/namespaces.h"
#include "http.h"
#include "page_response.h"
#include "server/base/log.h"
#include "server/api/templates.h"
#include "server/api/tenant.h"
#include "server/guard/key.h"
#include "server/guard/proofs.h"
#include "server/guard/tokens.h"
#include "server/session/restore.h"
#include "tls.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { HANDSHAKES = 1024, /* connections at once that have not become WebSockets */ };
enum { ACCEPT_TURN = 64, UNSENT_LOW = 16 * 1024, HEADER_BYTES = 16 * 1024, PART_BYTES = 4096 };
static const ev_tstamp replace_after_s = 0.1; /* the same, when a successor waits */
static const ev_tstamp ended_look_s = 0.1;
static const ev_tstamp leave_after_s = 1.0; /* connections get this long to take the last frames */

/* --- configuration -------------------------------------------------------------------------------------------- */

static int read_config(struct gateway_config *config, struct error *err)
{
	ssize_t got = pread(INHERIT_CONFIG, config, sizeof *config, 0);
	if (got != sizeof *config || config->size != sizeof *config || config->listeners > GATEWAY_LISTENERS ||
	    config->origins > GATEWAY_ORIGINS || config->public_hosts > GATEWAY_HOSTS)
		return error_set(err, 0, "the configuration that the keeper handed over is not of this version");
	return 0;
}

/* --- accepting ------------------------------------------------------------------------------------------------ */

static void set_socket_options(int fd)
{
	const int on = 1, low = UNSENT_LOW;
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
	/* What waits in the kernel is stale by the time a slow client gets it: let little wait there. */
	setsockopt(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &low, sizeof low);
}

/* No descriptor is left: take the connection with the spare one, and close it, so that the client hears at once. */
static void refuse_one(struct gateway *gateway, int listener)
{
	close(gateway->spare_fd);
	int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	if (fd >= 0)
		close(fd);
	gateway->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	log_write(LOG_WARN, NULL, "no descriptor is left for a connection", NULL);
}

static void on_connection(struct ev_loop *loop, ev_io *io, int events)
{
	(void)loop, (void)events;
	struct gateway *gateway = ((struct listener *)io->data)->gateway;
	for (int i = 0; i < ACCEPT_TURN; i++) {
		int fd = accept4(io->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (fd < 0 && (errno == EMFILE || errno == ENFILE))
			refuse_one(gateway, io->fd);
		if (fd < 0)
			return;
		if (gateway->sockets >= gateway->most_sockets) {
			close(fd);
			continue;
		}
		set_socket_options(fd);
		gateway->sockets++;
		if (!lws_adopt_socket_vhost(gateway->vhost, fd))
			log_write(LOG_DEBUG, NULL, "a connection could not be taken", NULL);
	}
}

static void listen_all(struct gateway *gateway)
{
	for (uint32_t i = 0; i < gateway->config.listeners; i++) {
		struct listener *listener = &gateway->listeners[i];
		int fd = INHERIT_LISTENERS + (int)i;
		listener->gateway = gateway;
		ev_io_init(&listener->io, on_connection, fd, EV_READ);
		listener->io.data = listener;
		ev_io_start(gateway->loop, &listener->io);
	}
}

static const struct lws_protocols protocols[] = {
	{"http", http_callback, sizeof(struct page_response), PART_BYTES, 0, NULL, PAGE_PART_BYTES},
	{WIRE_SUBPROTOCOL, connection_callback, sizeof(struct connection *), PART_BYTES, 0, NULL, WRITE_MOST + 64 * 1024},
	{0},
};

static void on_lws_log(int level, const char *line)
{
	char text[256];
	snprintf(text, sizeof text, "%.*s", (int)strcspn(line, "\n"), line);
	log_write(level & LLL_ERR ? LOG_WARN : LOG_DEBUG, NULL, "libwebsockets", LOG_FIELDS(log_text("said", text)));
}

/* No pings of lws's own: its timers stand in one sorted list, through which each sign of life of each connection walks. */
static const lws_retry_bo_t no_pings = {.secs_since_valid_ping = 0, .secs_since_valid_hangup = 0};

static int open_doors(struct gateway *gateway, struct error *err)
{
	void *loops[] = {gateway->loop};
	struct lws_context_creation_info info = {
		.port = CONTEXT_PORT_NO_LISTEN_SERVER,
		.protocols = protocols,
		.options = LWS_SERVER_OPTION_LIBEV | LWS_SERVER_OPTION_EXPLICIT_VHOSTS,
		.foreign_loops = loops,
		.user = gateway,
		.server_string = "sandbar",
		.max_http_header_data = HEADER_BYTES,
		.vhost_name = "sandbar",
		.alpn = "http/1.1",
		.retry_and_idle_policy = &no_pings,
	};
	if (gateway->tls) /* the context asks for its certificate: tls_configure() */
		info.options |= LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT | LWS_SERVER_OPTION_CREATE_VHOST_SSL_CTX;
	lws_set_log_level(LLL_ERR | LLL_WARN, on_lws_log);
	gateway->context = lws_create_context(&info);
	gateway->vhost = gateway->context ? lws_create_vhost(gateway->context, &info) : NULL;
	return gateway->vhost ? 0 : error_set(err, 0, "start libwebsockets on libev (package libwebsockets-evlib-ev)");
}

/* --- stopping ------------------------------------------------------------------------------------------------- */

static void on_leave(struct ev_loop *loop, ev_timer *timer, int events)
{
	(void)timer, (void)events;
	ev_break(loop, EVBREAK_ALL);
}

static void say_goodbye(void *owner)
{
	struct gateway *gateway = owner;
	if (ev_is_active(&gateway->leave))
		return;
	gateway->server.sessions.on_empty = NULL;
	ev_timer_stop(gateway->loop, &gateway->ended);
	struct connection *connection;
	LIST_FOREACH(connection, &gateway->connections, link)
		connection_close(connection, CLOSE_GOING_AWAY, "the server stops");
	ev_timer_set(&gateway->leave, LIST_EMPTY(&gateway->connections) ? 0. : leave_after_s, 0.);
	ev_timer_start(gateway->loop, &gateway->leave);
}

static void stop_accepting(struct gateway *gateway)
{
	gateway->server.is_stopping = true;
	namespaces_driver_stop_warm(gateway->driver);
	for (uint32_t i = 0; i < gateway->config.listeners; i++)
		ev_io_stop(gateway->loop, &gateway->listeners[i].io);
}

/* Nothing runs any more. Who does not take the last of an ended session keeps the others no longer than that needs. */
static void on_ended(struct ev_loop *loop, ev_timer *timer, int events)
{
	(void)loop, (void)events;
	struct gateway *gateway = timer->data;
	const struct session *session;
	LIST_FOREACH(session, &gateway->server.sessions.list, link)
		if (session->state != SESSION_ENDED)
			return;
	if (ev_now(gateway->loop) < gateway->goodbye_at)
		return;
	if (gateway->goodbye_at > 0)
		say_goodbye(gateway);
	else
		gateway->goodbye_at = ev_now(gateway->loop) + leave_after_s;
}

static void end_sessions(struct gateway *gateway)
{
	ev_timer_stop(gateway->loop, &gateway->drain);
	stop_accepting(gateway);
	log_write(LOG_INFO, NULL, "stopping", LOG_FIELDS(log_number("sessions", (int64_t)gateway->server.sessions.count)));
	gateway->server.sessions.on_empty = say_goodbye;
	gateway->server.sessions.owner = gateway;
	/* The kernel sends this signal, too, when the keeper dies, and with it every sandbox. */
	sessions_end_all(&gateway->server.sessions, getppid() == gateway->keeper_pid ? "stopped" : "lost");
	if (gateway->server.sessions.count == 0)
		say_goodbye(gateway);
	else
		ev_timer_again(gateway->loop, &gateway->ended);
}

static void on_drained(void *owner)
{
	end_sessions(owner);
}

static void on_drain_over(struct ev_loop *loop, ev_timer *timer, int events)
{
	(void)loop, (void)events;
	end_sessions(timer->data);
}

/* Everybody may finish what he has begun, and connect again for it; nobody begins a session. */
static void drain(struct gateway *gateway)
{
	gateway->server.is_draining = true;
	namespaces_driver_stop_warm(gateway->driver);
	gateway->drain_until = ev_now(gateway->loop) + (ev_tstamp)gateway->config.drain_ms / 1000;
	log_write(LOG_INFO, NULL, "draining", LOG_FIELDS(log_number("sessions", (int64_t)gateway->server.sessions.count)));
	gateway->server.sessions.on_empty = on_drained;
	gateway->server.sessions.owner = gateway;
	ev_timer_set(&gateway->drain, (ev_tstamp)gateway->config.drain_ms / 1000, 0.);
	ev_timer_start(gateway->loop, &gateway->drain);
}

static void on_terminate(struct ev_loop *loop, ev_signal *signal, int events)
{
	(void)loop, (void)events;
	struct gateway *gateway = signal->data;
	if (gateway->server.is_stopping || gateway->server.is_draining)
		return;
	struct connection *connection;
	LIST_FOREACH(connection, &gateway->connections, link)
		if (connection->is_greeted)
			connection_notice_stopping(connection, gateway->config.drain_ms);
	if (gateway->config.drain_ms > 0 && gateway->server.sessions.count > 0)
		drain(gateway);
	else
		end_sessions(gateway);
}

/* The driver tells each session that its sandbox is lost; clients get a moment to hear of it. */
static void on_keeper_gone(void *owner)
{
	struct gateway *gateway = owner;
	if (gateway->exit_code != 0)
		return;
	gateway->exit_code = GATEWAY_EXIT_KEEPER_GONE;
	log_write(LOG_ERROR, NULL, "the keeper is gone, and every sandbox with it", NULL);
	stop_accepting(gateway);
	ev_timer_set(&gateway->leave, leave_after_s, 0.);
	ev_timer_start(gateway->loop, &gateway->leave);
}

/* A successor takes over. It goes by what stands in the files, as after a crash, so there is nothing to be tidied up
 * here; clients only hear that they should come again. */
static void on_left_to_successor(struct ev_loop *loop, ev_timer *timer, int events)
{
	(void)loop, (void)timer, (void)events;
	_exit(EXIT_SUCCESS);
}

static void on_replace(struct ev_loop *loop, ev_signal *signal, int events)
{
	(void)events;
	struct gateway *gateway = signal->data;
	if (gateway->server.is_stopping)
		return;
	stop_accepting(gateway);
	gateway->server.sessions.is_leaving = true;
	log_write(LOG_INFO, NULL, "leaving to a successor", NULL);
	struct connection *connection;
	LIST_FOREACH(connection, &gateway->connections, link)
		connection_close(connection, CLOSE_GOING_AWAY, "the server is replaced");
	ev_timer_init(&gateway->leave, on_left_to_successor, LIST_EMPTY(&gateway->connections) ? 0. : replace_after_s, 0.);
	ev_timer_start(loop, &gateway->leave);
}

/* --- starting ------------------------------------------------------------------------------------------------- */

static uint64_t monotonic_us(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

/* Strangers may have so many sockets that a quarter of the descriptors is left for the sessions. */
static size_t count_sockets(const struct gateway_config *config)
{
	struct rlimit limit;
	size_t most = config->max_connections + HANDSHAKES;
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && most > limit.rlim_cur / 4 * 3)
		most = limit.rlim_cur / 4 * 3;
	return most;
}

static void init_server(struct gateway *gateway)
{
	const struct gateway_config *config = &gateway->config;
	struct server *server = &gateway->server;
	sessions_init(&server->sessions, gateway->loop, gateway->driver, INHERIT_SESSIONS);
	server->sessions.most = config->max_sessions;
	server->sessions.ring_bytes = config->ring_bytes;
	server->sessions.default_ttl_ms = config->ttl_ms;
	server->sessions.record_bytes = config->record_bytes;
	server->sessions.kept.most = config->keep_sessions;
	server->sessions.kept.most_bytes = config->keep_bytes;
	server->sessions.kept.most_age_ms = config->keep_age_ms;
	server->layers = &config->layers;
	server->started_us = monotonic_us();
	server->epoch = config->epoch;
	server->most_connections = config->max_connections;
	gateway->most_sockets = count_sockets(config);
	server->tenants = tenants_create((const uint64_t[TENANT_LIMITS]){[TENANT_SESSIONS] = config->tenant_sessions,
	                                                                 [TENANT_MEMORY] = config->tenant_memory,
	                                                                 [TENANT_PROCESSES] = config->tenant_processes,
	                                                                 [TENANT_STARTS] = config->tenant_starts});
	server->on_revoked = connections_revoked;
	server->on_removed = connections_removed;
}

static void watch_signals(struct gateway *gateway)
{
	ev_signal_init(&gateway->terminate, on_terminate, SIGTERM);
	ev_signal_init(&gateway->replace, on_replace, SIGUSR2);
	gateway->terminate.data = gateway->replace.data = gateway;
	ev_signal_start(gateway->loop, &gateway->terminate);
	ev_signal_start(gateway->loop, &gateway->replace);
	ev_timer_init(&gateway->leave, on_leave, 0., 0.);
	ev_timer_init(&gateway->ended, on_ended, ended_look_s, ended_look_s);
	gateway->ended.data = gateway;
	ev_timer_init(&gateway->drain, on_drain_over, 0., 0.);
	gateway->drain.data = gateway;
}

static void tell_given_up(const char *session, const char *why)
{
	log_write(LOG_ERROR, session, "a session could not be taken over", LOG_FIELDS(log_text("why", why)));
}

static void keep_warm(void *owner, const struct sandbox_spec *spec, unsigned count)
{
	struct gateway *gateway = owner;
	namespaces_driver_keep_warm(gateway->driver, spec, count);
}

static void on_adopted(void *owner)
{
	struct gateway *gateway = owner;
	listen_all(gateway);
	namespaces_driver_ready(gateway->driver);
	templates_each_warm(gateway->server.templates, gateway->config.warm, keep_warm, gateway);
}

static void on_hired(void *owner, int socket)
{
	struct gateway *gateway = owner;
	recorder_hired(&gateway->server.sessions.recorder, socket);
}

static void hire_worker(void *owner)
{
	struct gateway *gateway = owner;
	namespaces_driver_hire(gateway->driver, on_hired, gateway);
}

/* The first gateway of a keeper finds files that an earlier keeper left, whose sandboxes are gone; a later one finds
 * those of sandboxes that live. What is adopted is asked for before anything else of the keeper. */
static void take_over(struct gateway *gateway)
{
	struct sessions *sessions = &gateway->server.sessions;
	sessions->on_adopted = on_adopted;
	sessions->owner = gateway;
	sessions_restore(sessions, gateway->config.after_failure != 0, tell_given_up);
	if (gateway->config.epoch <= 1)
		sessions_adoption.done(sessions);
	else
		gateway->driver->adopt(gateway->driver->context, &sessions_adoption, sessions);
	recorder_begin(&sessions->recorder, hire_worker, gateway);
}

/* Sessions that run are not given up because of it: nobody comes in until the file is mended and the gateway replaced. */
static int load_tokens(struct gateway *gateway, struct error *err)
{
	gateway->server.proofs = proofs_load(INHERIT_TOKENS);
	gateway->server.tokens = tokens_load(INHERIT_TOKENS, gateway->key, err);
	if (gateway->server.tokens)
		return 0;
	error_prefix(err, "read which tokens were revoked, in `tokens/` of the state directory");
	if (gateway->config.epoch <= 1)
		return -1;
	log_write(LOG_ERROR, NULL, "no token is accepted until the file is mended and SIGUSR2 sent",
	          LOG_FIELDS(log_text("why", err->message)));
	gateway->server.tokens = tokens_closed(INHERIT_TOKENS, gateway->key);
	return 0;
}

static int start(struct gateway *gateway, struct error *err)
{
	if (read_config(&gateway->config, err) < 0)
		return -1;
	log_init("gateway", gateway->config.log_format == LOG_JSON, (enum log_severity)gateway->config.log_level);
	gateway->key = key_load(INHERIT_KEY, err);
	if (!gateway->key)
		return -1;
	if (load_tokens(gateway, err) < 0)
		return -1;
	gateway->server.templates = templates_load(INHERIT_TEMPLATES, err);
	if (!gateway->server.templates)
		return -1;
	gateway->pages = pages_load(INHERIT_PAGES, err);
	if (!gateway->pages)
		return error_prefix(err, "read the pages");
	if (gateway->config.tls && !(gateway->tls = tls_create(INHERIT_NEWS, err)))
		return -1;
	gateway->loop = ev_default_loop(EVFLAG_AUTO);
	if (gateway->tls)
		tls_watch(gateway->tls, gateway->loop);
	gateway->driver = namespaces_driver_create(gateway->loop, INHERIT_KEEPER, on_keeper_gone, gateway);
	gateway->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	LIST_INIT(&gateway->connections);
	init_server(gateway);
	metrics_begin(&gateway->metrics, gateway->loop);
	if (open_doors(gateway, err) < 0)
		return -1;
	watch_signals(gateway);
	if (gateway_confine(err) < 0)
		return -1;
	take_over(gateway);
	return 0;
}

static void finish(struct gateway *gateway)
{
	lws_context_destroy(gateway->context); /* closes every connection, which detaches its channels */
	sessions_finish(&gateway->server.sessions);
	namespaces_driver_destroy(gateway->driver);
	tls_destroy(gateway->tls);
	templates_destroy(gateway->server.templates);
	tenants_destroy(gateway->server.tenants);
	pages_destroy(gateway->pages);
	tokens_destroy(gateway->server.tokens);
	proofs_destroy(gateway->server.proofs);
	key_destroy(gateway->key);
	close(gateway->spare_fd);
	metrics_end(&gateway->metrics, gateway->loop);
	ev_loop_destroy(gateway->loop);
}

int main(void)
{
	static struct gateway gateway;
	struct error err = {0};
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN); /* a limit of the file size is an error of what was to be written */
	signal(SIGINT, SIG_IGN);  /* ^C goes to the whole foreground group; the keeper decides what it means */
	gateway.keeper_pid = getppid();
	if (start(&gateway, &err) < 0) {
		log_write(LOG_ERROR, NULL, "the gateway cannot start", LOG_FIELDS(log_text("why", err.message)));
		return GATEWAY_CANNOT;
	}
	ev_run(gateway.loop, 0);
	finish(&gateway);
	return gateway.exit_code;
}
