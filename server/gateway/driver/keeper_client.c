#include "keeper_client.h"
#include "packet.h"
#include "server/base/log.h"

#include <stdlib.h>

enum {
	OPEN_REQUESTS = 1 << 16, /* at once; the low bits of an id are the place of its request */
	PLACE_BITS = 16,
};

struct open_request {
	uint32_t id; /* 0 = the place is free */
	uint32_t process;
	keeper_answer_fn *answered;
	void *owner;
	uint32_t next_free; /* place, or OPEN_REQUESTS */
};

struct keeper_client {
	struct packet_socket *socket;
	void (*gone)(void *owner);
	void *owner;
	struct open_request *requests;
	uint32_t places, first_free; /* of `requests` */
	uint32_t generation;         /* the high bits of the next id */
};

static void grow(struct keeper_client *client)
{
	uint32_t places = client->places == 0 ? 64 : client->places * 2;
	client->requests = realloc(client->requests, places * sizeof *client->requests);
	if (!client->requests)
		abort();
	for (uint32_t place = client->places; place < places; place++)
		client->requests[place] = (struct open_request){.next_free = place + 1};
	client->requests[places - 1].next_free = OPEN_REQUESTS;
	client->first_free = client->places;
	client->places = places;
}

static struct open_request *take_place(struct keeper_client *client)
{
	if (client->first_free == OPEN_REQUESTS && client->places < OPEN_REQUESTS)
		grow(client);
	if (client->first_free == OPEN_REQUESTS)
		return NULL;
	uint32_t place = client->first_free;
	client->first_free = client->requests[place].next_free;
	client->generation = client->generation == UINT16_MAX ? 1 : client->generation + 1;
	client->requests[place].id = client->generation << PLACE_BITS | place;
	return &client->requests[place];
}

static void free_place(struct keeper_client *client, struct open_request *request)
{
	*request = (struct open_request){.next_free = client->first_free};
	client->first_free = (uint32_t)(request - client->requests);
}

bool keeper_client_send(struct keeper_client *client, const struct keeper_request *request, keeper_answer_fn *answered,
                        void *owner)
{
	struct open_request *open = take_place(client);
	if (!open)
		return false;
	struct keeper_request copy = *request;
	copy.id = open->id;
	open->process = request->process;
	open->answered = answered;
	open->owner = owner;
	if (packet_socket_send(client->socket, &copy, sizeof copy, NULL, 0))
		return true;
	free_place(client, open);
	return false;
}

static void take_answer(struct keeper_client *client, const struct packet *packet, const struct keeper_reply *reply)
{
	uint32_t place = reply->id & (OPEN_REQUESTS - 1);
	if (place >= client->places || reply->id == 0 || client->requests[place].id != reply->id) {
		log_write(LOG_ERROR, NULL, "the keeper answered what was not asked",
		          LOG_FIELDS(log_text("message", reply->message)));
		return;
	}
	struct open_request open = client->requests[place];
	if (reply->status != KEEPER_FOUND && reply->status != KEEPER_HAS_LEAF)
		free_place(client, &client->requests[place]);
	if (reply->status == KEEPER_REFUSED)
		log_write(LOG_ERROR, reply->session, "the keeper refused a request",
		          LOG_FIELDS(log_text("why", reply->message)));
	if (!open.answered)
		return;
	struct keeper_answer answer = {.reply = reply, .fds = packet->fds, .fd_count = packet->fd_count};
	if (packet->size == sizeof *answer.created)
		answer.created = (const struct keeper_created *)reply;
	if (packet->size == sizeof *answer.measured)
		answer.measured = (const struct keeper_measured *)reply;
	open.answered(open.owner, open.process, &answer);
}

static void received(void *context, struct packet *packet)
{
	struct keeper_client *client = context;
	const struct keeper_reply *reply = packet->bytes;
	if (packet->size != sizeof *reply && packet->size != sizeof(struct keeper_created) &&
	    packet->size != sizeof(struct keeper_measured)) {
		log_write(LOG_ERROR, NULL, "a reply of the keeper has a wrong size",
		          LOG_FIELDS(log_number("size", (int64_t)packet->size)));
		return;
	}
	/* That an init is gone is also the end of its own socket, which comes after all that it had said: that one counts. */
	if (reply->status == KEEPER_EVENT_DIED)
		log_write(LOG_WARN, reply->session, reply->message, NULL);
	else
		take_answer(client, packet, reply);
}

static void ended(void *context)
{
	struct keeper_client *client = context;
	client->gone(client->owner);
}

struct keeper_client *keeper_client_create(struct ev_loop *loop, int fd, void (*gone)(void *), void *owner)
{
	static const struct packet_events events = {.received = received, .ended = ended};
	struct keeper_client *client = calloc(1, sizeof *client);
	if (!client)
		abort();
	*client = (struct keeper_client){.gone = gone, .owner = owner, .first_free = OPEN_REQUESTS};
	client->socket = packet_socket_create(loop, fd, &events, client);
	return client;
}

void keeper_client_destroy(struct keeper_client *client)
{
	if (!client)
		return;
	packet_socket_destroy(client->socket);
	free(client->requests);
	free(client);
}
