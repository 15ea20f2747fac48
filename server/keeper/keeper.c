#include "keeper_state.h"
#include "requests.h"
#include "server/base/log.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

struct box *keeper_find(const struct keeper *keeper, const char *session)
{
	struct box *box = keeper->boxes;
	while (box && memcmp(box->session, session, SESSION_ID_LENGTH) != 0)
		box = box->next;
	return box;
}

static void answer(struct keeper *keeper, struct keeper_reply *reply, const char *session)
{
	memcpy(reply->session, session, SESSION_ID_LENGTH);
	conversation_send(&keeper->conversation, reply, sizeof *reply, NULL, 0);
}

void keeper_answer_ok(struct keeper *keeper, uint32_t id, const char *session)
{
	answer(keeper, &(struct keeper_reply){.id = id, .status = KEEPER_OK}, session);
}

void keeper_answer_failed(struct keeper *keeper, uint32_t id, const char *session, const char *code,
                          const struct error *err)
{
	struct keeper_reply reply = {.id = id, .status = KEEPER_FAILED, .errnum = err->errnum};
	snprintf(reply.code, sizeof reply.code, "%s", code);
	snprintf(reply.message, sizeof reply.message, "%.*s", (int)sizeof reply.message - 1, err->message);
	answer(keeper, &reply, session);
}

const char *keeper_error_code(const struct error *err)
{
	static const struct {
		int errnum;
		const char *code;
	} codes[] = {
		{EMFILE, "limit"},    {ENFILE, "limit"},    {EAGAIN, "limit"},       {EUSERS, "limit"},
		{ENOMEM, "no_space"}, {ENOSPC, "no_space"}, {ENOSYS, "unsupported"}, {EOPNOTSUPP, "unsupported"},
	};
	for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++)
		if (codes[i].errnum == err->errnum)
			return codes[i].code;
	return "internal";
}

void keeper_box_died(struct keeper *keeper, const struct box *box)
{
	static const char why[] = "the sandbox's init is gone";
	struct keeper_reply event = {.status = KEEPER_EVENT_DIED};
	memcpy(event.message, why, sizeof why);
	log_write(LOG_WARN, box->session, why, NULL);
	answer(keeper, &event, box->session);
}

void keeper_box_gone(struct keeper *keeper, struct box *box)
{
	struct box **link = &keeper->boxes;
	while (*link != box)
		link = &(*link)->next;
	*link = box->next;
	keeper->box_count--;
}

/* A gateway that asks what is not allowed is broken or taken over: it is told and noted, the first times and then
 * ever more rarely, so that it cannot flood the log. */
static void refuse(struct keeper *keeper, const struct keeper_request *request, const char *why)
{
	struct keeper_reply reply = {.id = request->id, .status = KEEPER_REFUSED, .process = request->process};
	snprintf(reply.message, sizeof reply.message, "%s", why);
	answer(keeper, &reply, request->session);
	keeper->refused++;
	if (keeper->refused <= 16 || (keeper->refused & (keeper->refused - 1)) == 0)
		log_write(LOG_WARN, NULL, "a request of the gateway was refused",
		          LOG_FIELDS(log_text("request", request_name(request->type)), log_text("why", why),
		                     log_number("refused", (int64_t)keeper->refused)));
}

void keeper_handle(struct keeper *keeper, const void *bytes, size_t size)
{
	struct keeper_request request = {0};
	struct box *box;
	if (size != sizeof request) {
		refuse(keeper, &request, "a request has a fixed size");
		return;
	}
	memcpy(&request, bytes, size);
	const char *refusal = request_refusal(keeper, &request, &box);
	if (refusal) {
		refuse(keeper, &request, refusal);
		return;
	}
	keeper->performed++;
	request_perform(keeper, &request, box);
}

static void message(void *owner, const void *bytes, size_t size)
{
	keeper_handle(owner, bytes, size);
}

static void ended(void *owner)
{
	struct keeper *keeper = owner;
	conversation_close(&keeper->conversation);
}

struct keeper *keeper_create(struct sandbox_host *host, uint32_t max_sessions, struct error *err)
{
	static const struct conversation_events events = {.message = message, .ended = ended};
	int epoll = epoll_create1(EPOLL_CLOEXEC);
	if (epoll < 0) {
		error_set(err, errno, "epoll_create1");
		return NULL;
	}
	struct keeper *keeper = calloc(1, sizeof *keeper);
	if (!keeper)
		abort();
	*keeper = (struct keeper){
		.host = host, .max_sessions = max_sessions, .epoll = epoll, .worker_launch = {.program = -1}};
	conversation_init(&keeper->conversation, epoll, &events, keeper);
	return keeper;
}

void keeper_set_worker(struct keeper *keeper, const struct worker_launch *launch)
{
	keeper->worker_launch = *launch;
}

void keeper_destroy(struct keeper *keeper)
{
	if (!keeper)
		return;
	assert(!keeper->boxes && !keeper->retries.first);
	conversation_close(&keeper->conversation);
	workers_finish(&keeper->workers);
	close(keeper->epoll);
	free(keeper);
}

int keeper_fd(const struct keeper *keeper)
{
	return keeper->epoll;
}

uint64_t keeper_deadline(const struct keeper *keeper)
{
	return retry_next(&keeper->retries);
}

void keeper_run(struct keeper *keeper)
{
	watch_run(keeper->epoll);
	retry_run(&keeper->retries);
}

int keeper_attach(struct keeper *keeper, int socket, uint64_t epoch, struct error *err)
{
	keeper->epoch = epoch;
	keeper->refused = keeper->performed = 0;
	keeper->said = 0;
	keeper->ready = false;
	return conversation_open(&keeper->conversation, socket, err);
}

void keeper_detach(struct keeper *keeper)
{
	conversation_drain(&keeper->conversation);
	conversation_close(&keeper->conversation);
	keeper->ready = false;
	/* The ids of its requests would mean something else to the next gateway. */
	for (struct box *box = keeper->boxes; box; box = box->next)
		box_orphan(box);
}

void keeper_end_boxes(struct keeper *keeper)
{
	for (struct box *box = keeper->boxes; box; box = box->next)
		box_handle(box, BOX_END);
}

bool keeper_is_ready(const struct keeper *keeper)
{
	return keeper->ready;
}

bool keeper_is_attached(const struct keeper *keeper)
{
	return keeper->conversation.socket >= 0;
}

uint64_t keeper_performed(const struct keeper *keeper)
{
	return keeper->performed;
}

size_t keeper_boxes(const struct keeper *keeper)
{
	return keeper->box_count;
}
