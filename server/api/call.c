#include "call.h"

#include "method.h"
#include "server/guard/gate.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ERROR_BYTES = 4096, MESSAGE_BYTES = 512 };

void error_write(struct writer *writer, enum error_code code, const char *message, const char *key, const char *text)
{
	writer_map(writer, 3);
	writer_key_str(writer, "code", error_code_name(code));
	writer_key_str(writer, "message", message);
	writer_str(writer, "data");
	writer_map(writer, key ? 1 : 0);
	if (key)
		writer_key_str(writer, key, text);
}

void caller_init(struct caller *caller, const struct door *door, struct server *server)
{
	caller->door = door;
	caller->server = server;
	LIST_INIT(&caller->calls);
}

/* The caller hears nothing any more; what was started for it alone is ended. */
void caller_finish(struct caller *caller)
{
	struct call *call;
	while ((call = LIST_FIRST(&caller->calls))) {
		LIST_REMOVE(call, link);
		call->caller = NULL;
		if (call->cancel)
			call->cancel(call);
	}
}

static struct call *call_create(struct caller *caller, uint32_t id)
{
	struct call *call = calloc(1, sizeof *call);
	if (!call)
		abort();
	call->caller = caller;
	call->id = id;
	writer_init(&call->result, CALL_RESULT_BYTES);
	LIST_INSERT_HEAD(&caller->calls, call, link);
	return call;
}

static void call_destroy(struct call *call)
{
	if (call->caller)
		LIST_REMOVE(call, link);
	writer_finish(&call->result);
	free(call);
}

void call_answer(struct call *call)
{
	if (call->result.failed) {
		call_fail(call, CODE_TOO_LARGE, NULL, NULL, "the answer is larger than %d bytes", CALL_RESULT_BYTES);
		return;
	}
	if (call->caller)
		call->caller->door->answer(call->caller, call->id, call->result.data, call->result.length);
	call_destroy(call);
}

void call_answer_empty(struct call *call)
{
	writer_map(&call->result, 0);
	call_answer(call);
}

void call_answer_seq(struct call *call, uint64_t seq)
{
	writer_map(&call->result, 1);
	writer_key_uint(&call->result, "seq", seq);
	call_answer(call);
}

static void fail(struct call *call, enum error_code code, const char *message, const char *key, const char *text)
{
	if (call->caller) {
		struct writer error;
		call->caller->server->errors[code]++;
		writer_init(&error, ERROR_BYTES);
		error_write(&error, code, message, key, text);
		call->caller->door->fail(call->caller, call->id, error.data, error.length);
		writer_finish(&error);
	}
	call_destroy(call);
}

void call_fail(struct call *call, enum error_code code, const char *key, const char *text, const char *format, ...)
{
	char message[MESSAGE_BYTES];
	va_list args;
	va_start(args, format);
	vsnprintf(message, sizeof message, format, args);
	va_end(args);
	fail(call, code, message, key, text);
}

void call_fail_named(struct call *call, const char *code, const char *message)
{
	enum error_code known = error_code_find(code);
	fail(call, known ? known : CODE_INTERNAL, message, NULL, NULL);
}

void call_fail_to_write(struct call *call, const struct error *err)
{
	enum error_code code = err->errnum == ENOSPC || err->errnum == EDQUOT ? CODE_NO_SPACE : CODE_INTERNAL;
	call_fail(call, code, NULL, NULL, "%s", err->message);
}

bool caller_has_call(const struct caller *caller, uint32_t id)
{
	const struct call *call;
	LIST_FOREACH(call, &caller->calls, link)
		if (call->id == id)
			return true;
	return false;
}

void call_cancel(struct caller *caller, uint32_t id)
{
	struct call *call;
	LIST_FOREACH(call, &caller->calls, link) {
		if (call->id != id)
			continue;
		if (call->cancel)
			call->cancel(call);
		return;
	}
}

static bool is_stopping(struct call *call)
{
	if (call->caller->server->is_stopping) {
		call_fail(call, CODE_UNAVAILABLE, NULL, NULL, "the server is stopping");
		return true;
	}
	return false;
}

struct bearer caller_bearer(const struct caller *caller)
{
	const struct principal *principal = &caller->principal;
	struct bearer bearer = {.is_guest = principal->session[0] != '\0',
	                        .is_admin = gate_allows_right(principal, RIGHT_ADMIN)};
	memcpy(bearer.token, principal->id, sizeof bearer.token);
	if (bearer.is_guest)
		memcpy(bearer.client, caller->client, sizeof bearer.client);
	return bearer;
}
_Static_assert((int)BEARER_TOKEN_BYTES == (int)TOKEN_ID_BYTES, "a bearer is known by its token's id");
_Static_assert((int)PRINCIPAL_SESSION_BYTES == (int)SESSION_ID_LENGTH, "a guest's session is a session's id");

struct principal caller_in_session(const struct caller *caller, const struct session *session)
{
	const struct bearer bearer = caller_bearer(caller);
	const struct grant *grant = access_find(&session->access, &bearer);
	return grant ? gate_in_session(&caller->principal, grant->role) : caller->principal;
}

bool caller_was_removed(const struct caller *caller, const struct session *session)
{
	const struct bearer bearer = caller_bearer(caller);
	const struct grant *grant = access_find(&session->access, &bearer);
	return grant && grant->role == ROLE_NONE;
}

static const struct param *find_row(const struct method *method, const char *name)
{
	const struct param *row = method->params;
	while (row->name && strcmp(row->name, name) != 0)
		row++;
	return row->name ? row : NULL;
}

/* The session that the arguments name, of the caller's tenant; NULL: none. */
static const struct session *session_named(const struct call *call, const struct param *row, const char *args)
{
	const char *const *id = (const char *const *)(const void *)(args + row->offset);
	const struct caller *caller = call->caller;
	return sessions_find(&caller->server->sessions, *id, strlen(*id), caller->principal.tenant);
}

/* Who the caller is where the arguments take it: in the session that they name, or on one of its channels. */
static struct principal principal_there(const struct call *call, const struct method *method, const char *args)
{
	const struct caller *caller = call->caller;
	const struct param *session_row = find_row(method, "session"), *channel_row = find_row(method, "channel");
	const struct session *session = session_row && args ? session_named(call, session_row, args) : NULL;
	if (session)
		return caller_in_session(caller, session);
	const uint64_t *number = channel_row && args ? (const uint64_t *)(const void *)(args + channel_row->offset) : NULL;
	const struct channel *channel = number ? caller->door->channel(caller, (uint32_t)*number) : NULL;
	return channel ? gate_in_session(&caller->principal, channel->role) : caller->principal;
}

/* ARGS: NULL where they could not be read. */
static bool may_call(struct call *call, const struct method *method, const char *args)
{
	const struct principal *principal = &call->caller->principal;
	bool names_session = find_row(method, "session") || find_row(method, "channel");
	if (!gate_allows_guest(principal, names_session, method->for_guests)) {
		call_fail(call, CODE_FORBIDDEN, NULL, NULL, "`%s` is not for who came by a share", method->name);
		return false;
	}
	const struct principal there = principal_there(call, method, args);
	if (gate_allows_right(&there, method->right))
		return true;
	if (principal->rights == RIGHT_REDEEM)
		call_fail(
			call, CODE_FORBIDDEN, "right", right_name(method->right),
			"this is a sign-in link, good for `token.redeem` alone: open it in a browser, or have a token made for "
			"a program (`sandbar token new`)");
	else if (names_session && args && there.rights == 0 && principal->rights != 0)
		call_fail(call, CODE_FORBIDDEN, NULL, NULL, "an owner removed you from this session");
	else
		call_fail(call, CODE_FORBIDDEN, "right", right_name(method->right), "`%s` needs the right `%s`", method->name,
		          right_name(method->right));
	return false;
}

void call_dispatch(struct caller *caller, uint32_t id, struct view name, struct reader params)
{
	struct call *call = call_create(caller, id);
	const struct method *method = method_find(name);
	if (!method) {
		int shown = (int)(name.length < LIMIT_NAME_BYTES ? name.length : LIMIT_NAME_BYTES);
		call_fail(call, CODE_UNKNOWN_METHOD, NULL, NULL, "there is no method `%.*s`", shown, name.data);
		return;
	}
	if (is_stopping(call))
		return;
	_Alignas(max_align_t) char args[METHOD_PARAMS_BYTES] = {0};
	if (method->defaults)
		memcpy(args, method->defaults, method->size);
	struct arena arena = {.used = 0};
	struct params_error error;
	bool is_read = params_decode(params, method->params, args, &arena, &error);
	bool may = may_call(call, method, is_read ? args : NULL);
	if (may && is_read)
		method->handle(call, args);
	else if (may)
		call_fail(call, error.code, "field", error.field, "%s", error.message);
	arena_finish(&arena);
}
