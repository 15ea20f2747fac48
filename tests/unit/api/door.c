#include "door.h"

#include "protocol/check.h"

#include <criterion/criterion.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define FRONT(caller) ((struct front *)(void *)(caller))
_Static_assert(offsetof(struct front, caller) == 0, "the caller is the front's beginning");

static void keep(struct caller *caller, uint32_t id, bool is_error, const uint8_t *bytes, size_t length)
{
	struct check_report report;
	cr_assert(check_message(bytes, length, &report) && report.values == 1, "%s at %zu", report.what, report.at);
	cr_assert_lt(id, (uint32_t)DOOR_ANSWERS);
	struct door_answer *answer = &FRONT(caller)->answers[id];
	cr_assert_null(answer->bytes, "request %u is answered twice", id);
	answer->bytes = malloc(length);
	memcpy(answer->bytes, bytes, length);
	answer->length = length;
	answer->is_error = is_error;
	struct reader map = reader_over(answer->bytes, length);
	cr_assert_eq(reader_type(&map), VALUE_MAP);
	if (is_error) {
		cr_assert_eq(map_count(map), 3);
		map_map(map, "data");
	}
}

static void answer(struct caller *caller, uint32_t id, const uint8_t *result, size_t length)
{
	keep(caller, id, false, result, length);
}

static void fail(struct caller *caller, uint32_t id, const uint8_t *error, size_t length)
{
	keep(caller, id, true, error, length);
}

static void wake(void *owner)
{
	(void)owner;
}

/* The owner is the place in the front's list. */
static void expel(void *owner)
{
	struct channel **place = owner;
	channel_detach(*place);
	*place = NULL;
}

static struct channel *attach(struct caller *caller, struct session *session, struct channel_options *options)
{
	struct front *front = FRONT(caller);
	for (uint32_t i = 0; i < DOOR_CHANNELS; i++) {
		if (front->channels[i])
			continue;
		options->number = i + 1;
		options->wake = wake;
		options->expel = expel;
		options->owner = &front->channels[i];
		return front->channels[i] = channel_attach(session, options);
	}
	return NULL;
}

static bool detach(struct caller *caller, uint32_t channel)
{
	struct front *front = FRONT(caller);
	if (channel < 1 || channel > DOOR_CHANNELS || !front->channels[channel - 1])
		return false;
	channel_detach(front->channels[channel - 1]);
	front->channels[channel - 1] = NULL;
	return true;
}

static struct channel *channel_of(const struct caller *caller, uint32_t channel)
{
	const struct front *front = (const struct front *)(const void *)caller;
	return channel >= 1 && channel <= DOOR_CHANNELS ? front->channels[channel - 1] : NULL;
}

static const struct door door = {answer, fail, attach, detach, channel_of};
static const struct layer_report no_layers;

void front_open(struct front *front, uint32_t rights)
{
	memset(front, 0, sizeof *front);
	house_open_empty(&front->house, 0);
	sessions_init(&front->server.sessions, front->house.loop, &front->house.driver, front->house.sessions.directory);
	front->server.sessions.most = 8;
	front->server.sessions.ring_bytes = JOURNAL_RING_LEAST;
	front->server.layers = &no_layers;
	front->server.most_connections = 10;
	caller_init(&front->caller, &door, &front->server);
	front->caller.principal = (struct principal){.name = "ada", .tenant = "default", .rights = rights};
	memset(front->caller.client, 7, sizeof front->caller.client);
	strcpy(front->caller.client_name, "test/1");
}

static void end_session(struct front *front)
{
	struct session *session = LIST_FIRST(&front->server.sessions.list);
	struct sandbox *sandbox = session->sandbox;
	session_end(session, "stopped", NULL);
	if (sandbox && sandbox->destroys == 0)
		house_fire(&front->house, &session->deadline);
	if (session->state == SESSION_ENDING)
		front->house.sandbox->events->destroyed(session);
}

void front_close(struct front *front)
{
	caller_finish(&front->caller);
	for (uint32_t i = 1; i <= DOOR_CHANNELS; i++)
		detach(&front->caller, i);
	while (!LIST_EMPTY(&front->server.sessions.list))
		end_session(front);
	for (size_t i = 0; i < DOOR_ANSWERS; i++)
		free(front->answers[i].bytes);
	sessions_finish(&front->server.sessions);
	house_close(&front->house);
}

void front_call(struct front *front, uint32_t id, const char *method, const struct writer *params)
{
	struct reader reader = reader_over("", 0);
	if (params) {
		struct check_report report;
		cr_assert(check_message(params->data, params->length, &report), "the test's own message: %s", report.what);
		reader = reader_over(params->data, params->length);
	}
	call_dispatch(&front->caller, id, (struct view){method, (uint32_t)strlen(method)}, reader);
}

bool front_is_answered(const struct front *front, uint32_t id)
{
	return front->answers[id].bytes != NULL;
}

struct reader front_result(struct front *front, uint32_t id)
{
	struct door_answer *told = &front->answers[id];
	cr_assert_not_null(told->bytes, "request %u is not answered", id);
	struct reader map = reader_over(told->bytes, told->length), message;
	struct view text = {"", 0};
	if (told->is_error && map_find(map, "message", &message))
		reader_str(&message, &text);
	cr_assert_not(told->is_error, "request %u failed: %.*s", id, (int)text.length, text.data);
	return map;
}

struct reader front_error(struct front *front, uint32_t id)
{
	const struct door_answer *told = &front->answers[id];
	cr_assert(told->bytes && told->is_error, "request %u did not fail", id);
	return reader_over(told->bytes, told->length);
}

void front_expect_error(struct front *front, uint32_t id, const char *code)
{
	struct reader error = front_error(front, id), value;
	struct view is = {"", 0}, message = {"", 0};
	map_find(error, "code", &value);
	reader_str(&value, &is);
	map_find(error, "message", &value);
	reader_str(&value, &message);
	cr_expect(view_equals(is, code), "request %u: `%.*s` (%.*s), wanted `%s`", id, (int)is.length, is.data,
	          (int)message.length, message.data, code);
	cr_expect_gt(message.length, 5, "a person reads the message");
}

const char *front_session(struct front *front, uint32_t id)
{
	front_call(front, id, "session.create", NULL);
	struct session *session = LIST_FIRST(&front->server.sessions.list);
	cr_assert_not_null(session);
	front->house.sandbox->events->created(session, &no_layers);
	front->house.session = NULL;
	front_result(front, id);
	return session->id;
}
