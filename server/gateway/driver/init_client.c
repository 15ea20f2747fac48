#include "init_client.h"
#include "packet.h"
#include "sandbox/init/wire.h"
#include "server/base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct init_client {
	struct packet_socket *socket;
	const struct init_client_events *events;
	void *owner;
	const char *session;
	uint64_t epoch;
};

static bool send_message(struct init_client *client, struct init_message *message, const int *fds, size_t count)
{
	message->epoch = client->epoch;
	return packet_socket_send(client->socket, message, sizeof *message, fds, count);
}

bool init_client_start(struct init_client *client, const struct init_start *start)
{
	struct init_message message = {
		.type = INIT_START,
		.flags = start->flags,
		.process = start->process,
		.cols = start->cols,
		.rows = start->rows,
		.argc = start->payload.argc,
		.envc = start->payload.envc,
	};
	int fds[INIT_MAX_FDS] = {start->payload.fd};
	if (start->leaf_count > 0)
		memcpy(fds + 1, start->leaf, start->leaf_count * sizeof fds[0]);
	return send_message(client, &message, fds, 1 + start->leaf_count);
}

/* The descriptors that are sent are closed, and the caller needs his own for START. */
bool init_client_prepare(struct init_client *client, uint32_t process, const int *leaf, size_t leaf_count)
{
	int fds[INIT_LEAF_FDS];
	size_t count = 0;
	while (count < leaf_count && (fds[count] = fcntl(leaf[count], F_DUPFD_CLOEXEC, 0)) >= 0)
		count++;
	struct init_message message = {.type = INIT_PREPARE, .process = process};
	if (count == leaf_count)
		return send_message(client, &message, fds, count);
	while (count > 0)
		close(fds[--count]);
	return false;
}

bool init_client_signal(struct init_client *client, uint32_t process, int signo, enum signal_scope scope)
{
	struct init_message message = {.type = INIT_SIGNAL, .process = process, .value = signo};
	static const uint32_t flags[] = {
		[SIGNAL_LEADER] = 0, [SIGNAL_TREE] = INIT_SCOPE_TREE, [SIGNAL_BELOW] = INIT_SCOPE_BELOW};
	message.flags = flags[scope];
	return send_message(client, &message, NULL, 0);
}

bool init_client_kill_tree(struct init_client *client, uint32_t process)
{
	return send_message(client, &(struct init_message){.type = INIT_KILL_TREE, .process = process}, NULL, 0);
}

bool init_client_close_stdin(struct init_client *client, uint32_t process)
{
	return send_message(client, &(struct init_message){.type = INIT_CLOSE_STDIN, .process = process}, NULL, 0);
}

bool init_client_forget(struct init_client *client, uint32_t process)
{
	return send_message(client, &(struct init_message){.type = INIT_FORGET, .process = process}, NULL, 0);
}

/* Take the next descriptor out of PACKET, or -1. */
static int take_fd(struct packet *packet, size_t place)
{
	if (place >= packet->fd_count)
		return -1;
	int fd = packet->fds[place];
	packet->fds[place] = -1;
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
	return fd;
}

static void take_started(struct init_client *client, const struct init_message *message, struct packet *packet)
{
	bool terminal = message->flags & INIT_TERMINAL, shell = message->flags & INIT_SHELL;
	struct process_streams streams = {
		.stdin_fd = terminal || shell ? -1 : take_fd(packet, 2),
		.stdout_fd = terminal ? -1 : take_fd(packet, 0),
		.stderr_fd = terminal ? -1 : take_fd(packet, 1),
		.tty_fd = terminal ? take_fd(packet, 0) : -1,
		.command_fd = shell ? take_fd(packet, 2) : -1,
		.status_fd = shell ? take_fd(packet, 3) : -1,
	};
	client->events->started(client->owner, message->process, &streams);
}

static void take_start_failed(struct init_client *client, const struct init_message *message, struct packet *packet)
{
	(void)packet;
	client->events->start_failed(client->owner, message->process, message->phase, message->value);
}

static struct timeval timeval_of(uint64_t microseconds)
{
	return (struct timeval){.tv_sec = (time_t)(microseconds / 1000000),
	                        .tv_usec = (suseconds_t)(microseconds % 1000000)};
}

static void take_exited(struct init_client *client, const struct init_message *message, struct packet *packet)
{
	(void)packet;
	struct rusage usage = {
		.ru_utime = timeval_of(message->user_us),
		.ru_stime = timeval_of(message->system_us),
		.ru_maxrss = (long)(message->max_rss / 1024),
	};
	int status = message->flags & INIT_LOST ? -1 : message->value;
	client->events->exited(client->owner, message->process, status, &usage);
}

static void take_killed(struct init_client *client, const struct init_message *message, struct packet *packet)
{
	(void)packet;
	client->events->killed(client->owner, message->process);
}

static void take_empty(struct init_client *client, const struct init_message *message, struct packet *packet)
{
	(void)packet;
	client->events->empty(client->owner, message->process);
}

/* A refused START was not tried. A refused KILL_TREE is about a process that init does not know any more, so that
 * nothing of it lives, or about one whose subreaper was killed (ECHILD): its tree cannot be found. */
static void take_refused(struct init_client *client, const struct init_message *message, struct packet *packet)
{
	(void)packet;
	log_write(LOG_WARN, client->session, "init refused a request",
	          LOG_FIELDS(log_number("type", message->value), log_number("process", message->process),
	                     log_number("errno", message->flags)));
	if (message->value == INIT_START)
		client->events->start_failed(client->owner, message->process, INIT_PHASE_PAYLOAD, (int)message->flags);
	else if (message->value == INIT_KILL_TREE && message->flags == ECHILD)
		client->events->kill_failed(client->owner, message->process);
	else if (message->value == INIT_KILL_TREE)
		client->events->killed(client->owner, message->process);
}

static void take_denied(struct init_client *client, const struct init_message *message, struct packet *packet)
{
	(void)packet;
	client->events->denied(client->owner, message->process, message->value, message->phase, message->user_us);
}

static void ignore(struct init_client *client, const struct init_message *message, struct packet *packet)
{
	(void)client, (void)message, (void)packet;
}

static void take_sync_done(struct init_client *client, const struct init_message *message, struct packet *packet)
{
	(void)message, (void)packet;
	client->events->synced(client->owner);
}

static const struct answer {
	uint32_t type;
	void (*take)(struct init_client *, const struct init_message *, struct packet *);
} answers[] = {
	{INIT_STARTED, take_started},     {INIT_START_FAILED, take_start_failed},
	{INIT_EXITED, take_exited},       {INIT_KILLED, take_killed},
	{INIT_REFUSED, take_refused},     {INIT_SYNCED, ignore},
	{INIT_SYNC_DONE, take_sync_done}, {INIT_DENIED, take_denied},
	{INIT_EMPTY, take_empty},
};

static void received(void *owner, struct packet *packet)
{
	struct init_client *client = owner;
	const struct init_message *message = packet->bytes;
	if (packet->size == sizeof *message && message->epoch < client->epoch)
		return; /* it was said to a gateway that is dead */
	for (size_t i = 0; i < sizeof answers / sizeof answers[0] && packet->size == sizeof *message; i++)
		if (answers[i].type == message->type) {
			answers[i].take(client, message, packet);
			return;
		}
	log_write(LOG_ERROR, client->session, "init sent what is no answer",
	          LOG_FIELDS(log_number("size", (int64_t)packet->size)));
}

static void ended(void *owner)
{
	struct init_client *client = owner;
	client->events->gone(client->owner);
}

struct init_client *init_client_create(struct ev_loop *loop, int fd, uint64_t epoch, const char *session,
                                       const struct init_client_events *events, void *owner)
{
	static const struct packet_events packet_events = {.received = received, .ended = ended};
	struct init_client *client = calloc(1, sizeof *client);
	if (!client)
		abort();
	*client = (struct init_client){.events = events, .owner = owner, .session = session, .epoch = epoch};
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
	client->socket = packet_socket_create(loop, fd, &packet_events, client);
	return client;
}

bool init_client_sync(struct init_client *client)
{
	return send_message(client, &(struct init_message){.type = INIT_SYNC}, NULL, 0);
}

void init_client_destroy(struct init_client *client)
{
	if (!client)
		return;
	packet_socket_destroy(client->socket);
	free(client);
}
