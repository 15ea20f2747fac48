#include "role_methods.h"

#include "server/session/session_file.h"
#include "session_methods.h"

#include <stddef.h>
#include <string.h>

#define COMMON_ROWS                                                                         \
	{"session",                                                                             \
	 PARAM_TEXT,                                                                            \
	 offsetof(struct role_args, session),                                                   \
	 .required = true,                                                                      \
	 .most = LIMIT_NAME_BYTES,                                                              \
	 .summary = "the id that session.create gave"},                                         \
	{                                                                                       \
		"participant", PARAM_UINT, offsetof(struct role_args, participant),                 \
			.required = true, .least = 1, .most = UINT32_MAX, .summary = "whom it is about" \
	}

const struct param role_params[] = {
	COMMON_ROWS,
	{"role", PARAM_CHOICE, offsetof(struct role_args, role), .required = true, .choices = role_choices,
     .summary = "what they are from now on"},
	{0},
};
const struct param remove_params[] = {COMMON_ROWS, {0}};

const struct param note_params[] = {
	PARAM_SESSION(note_args),
	{"text", PARAM_TEXT, offsetof(struct note_args, text), .required = true, .least = 1, .most = NOTE_BYTES,
     .summary = "what is pinned to this moment"},
	{"process", PARAM_OPTIONAL, offsetof(struct note_args, process), .least = 1, .most = UINT32_MAX,
     .summary = "what it is about"},
	{0},
};

/* --- roles ---------------------------------------------------------------------------------------------------- */

/* Whom a change is about: one who is here, or one who was and whose token was given a role. */
struct subject {
	struct channel *channel; /* NULL: not here */
	struct bearer bearer;
	bool is_alone; /* the token is not touched, only this channel */
};

static bool find_subject(struct call *call, const struct session *session, uint32_t participant,
                         struct subject *subject)
{
	const struct grant *grant = access_find_grant(&session->access, participant);
	*subject = (struct subject){.channel = participant_find(session, participant)};
	if (!subject->channel && !grant) {
		call_fail(call, CODE_NOT_FOUND, "field", "participant",
		          "session `%s` has no participant %u now, nor gave it a role", session->id, participant);
		return false;
	}
	subject->bearer = subject->channel ? subject->channel->bearer : grant->bearer;
	const struct bearer own = caller_bearer(call->caller);
	subject->is_alone = subject->bearer.is_admin || bearer_equals(&subject->bearer, &own);
	return true;
}

/* What is decided on a token is written down before anything comes of it. */
static bool give(struct call *call, struct session *session, const struct subject *subject, const struct grant *grant)
{
	struct access_before before;
	struct error err;
	if (subject->is_alone)
		return true;
	if (!access_give(&session->access, grant, &before)) {
		call_fail(call, CODE_LIMIT, NULL, NULL, "a session keeps at most %d roles that were given", ACCESS_GRANTS);
		return false;
	}
	if (session_file_save(session, &err) == 0)
		return true;
	access_take_back(&session->access, &grant->bearer, &before);
	call_fail_to_write(call, &err);
	return false;
}

/* The next channel behind AFTER (NULL: the first) that the change is about. */
static struct channel *next_of(const struct session *session, const struct subject *subject, struct channel *after)
{
	struct channel *channel = after ? LIST_NEXT(after, link) : LIST_FIRST(&session->channels);
	while (channel &&
	       !(subject->is_alone ? channel == subject->channel : bearer_equals(&subject->bearer, &channel->bearer)))
		channel = LIST_NEXT(channel, link);
	return channel;
}

void handle_session_role(struct call *call, const void *arguments)
{
	const struct role_args *args = arguments;
	struct session *session = call_session(call, args->session);
	struct subject subject;
	if (!session || !find_subject(call, session, (uint32_t)args->participant, &subject))
		return;
	const struct grant grant = {
		.bearer = subject.bearer, .participant = (uint32_t)args->participant, .role = (enum role)(args->role + 1)};
	if (!give(call, session, &subject, &grant))
		return;
	struct channel *channel = NULL;
	while ((channel = next_of(session, &subject, channel)))
		if (channel->role != grant.role)
			channel_set_role(channel, grant.role, call->caller->principal.name);
	call_answer_seq(call, history_last(session));
}

/* The caller can be whom it removes: he still gets the answer, since a connection is closed when its queue is empty. */
void handle_session_remove(struct call *call, const void *arguments)
{
	const struct role_args *args = arguments;
	struct session *session = call_session(call, args->session);
	struct subject subject;
	if (!session || !find_subject(call, session, (uint32_t)args->participant, &subject))
		return;
	const struct grant grant = {.bearer = subject.bearer, .participant = (uint32_t)args->participant};
	if (!give(call, session, &subject, &grant))
		return;
	struct server *server = call->caller->server;
	struct channel *channel, *next;
	for (channel = next_of(session, &subject, NULL); channel; channel = next) {
		next = next_of(session, &subject, channel);
		channel_remove(channel, call->caller->principal.name);
	}
	if (subject.bearer.is_guest && !subject.is_alone && server->on_removed)
		server->on_removed(server, &subject.bearer);
	call_answer_seq(call, history_last(session));
}

/* --- notes ---------------------------------------------------------------------------------------------------- */

/* The caller as who he is attached, or NULL. */
static const struct channel *attached_as(const struct call *call, const struct session *session)
{
	const struct bearer bearer = caller_bearer(call->caller);
	const struct channel *channel;
	LIST_FOREACH(channel, &session->channels, link)
		if (bearer_equals(&channel->bearer, &bearer) &&
		    memcmp(channel->client, call->caller->client, CLIENT_ID_BYTES) == 0)
			return channel;
	return NULL;
}

static void write_or_nil(struct writer *writer, const char *key, bool has, uint64_t value)
{
	if (has)
		writer_key_uint(writer, key, value);
	else
		writer_key_nil(writer, key);
}

void handle_session_note(struct call *call, const void *arguments)
{
	const struct note_args *args = arguments;
	struct session *session = call_session(call, args->session);
	if (!session)
		return;
	if (args->process.has && !session_find_process(session, (uint32_t)args->process.value)) {
		call_fail(call, CODE_NOT_FOUND, "field", "process", "session `%s` has no process %llu", session->id,
		          (unsigned long long)args->process.value);
		return;
	}
	const struct channel *channel = attached_as(call, session);
	struct writer *event = session_event_begin(session, FRAME_NOTE, 1);
	writer_map(event, 4);
	writer_key_str(event, "text", args->text);
	writer_key_str(event, "by", channel ? channel->name : call->caller->principal.name);
	write_or_nil(event, "participant", channel != NULL, channel ? channel->participant : 0);
	write_or_nil(event, "process", args->process.has, args->process.value);
	call_answer_seq(call, session_event_commit(session));
}
