#include "session_methods.h"

#include "collected.h"
#include "server/guard/gate.h"
#include "templates.h"
#include "tenant.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

const char *const role_choices[] = {"viewer", "editor", "owner", NULL}; /* index + 1 = enum role */

static const char *const on_disconnect_choices[] = {"keep", "end", NULL};

const struct param session_create_params[] = {
	{"name", PARAM_TEXT, offsetof(struct session_create_args, name), .most = LIMIT_NAME_BYTES,
     .summary = "shown in lists"},
	{"template", PARAM_TEXT, offsetof(struct session_create_args, template), .least = 1, .most = TEMPLATE_NAME_BYTES,
     .summary = "what it is made from"},
	{"env", PARAM_ENV, offsetof(struct session_create_args, env), .most = LIMIT_ENVIRONMENT,
     .summary = "added to every process's environment"},
	{"limits", PARAM_MAP, .fields = limit_fields, .has_offset = offsetof(struct session_create_args, has_limits),
     .summary = "what the session may use"},
	{"ttl_ms", PARAM_UINT, offsetof(struct session_create_args, ttl_ms), .most = PARAM_TIME_MOST,
     .summary = "it ends this long after it was made"},
	{"on_disconnect", PARAM_CHOICE, offsetof(struct session_create_args, on_disconnect),
     .choices = on_disconnect_choices, .summary = "what happens when its client has left"},
	{"disconnect_ms", PARAM_UINT, offsetof(struct session_create_args, disconnect_ms), .least = 1,
     .most = PARAM_TIME_MOST, .summary = "how long it must have left"},
	{"profile", PARAM_TEXT, offsetof(struct session_create_args, profile), .least = 1, .most = LIMIT_NAME_BYTES,
     .summary = "which system calls its processes may make"},
	{"require", PARAM_STRINGS, offsetof(struct session_create_args, require), .most = LAYER_COUNT,
     .summary = "layers that must be on"},
	{"context", PARAM_CONTEXT, offsetof(struct session_create_args, context), .most = CONTEXT_SESSION_BYTES,
     .summary = "what the client notes beside it"},
	{"for_proof", PARAM_BOOL, offsetof(struct session_create_args, for_proof),
     .summary = "an operator's: to make the proof that the template demands"},
	{0},
};
const struct session_create_args session_create_defaults = {
	.name = "", .template = TEMPLATE_DEFAULT, .disconnect_ms = 10000};

const struct param session_list_params[] = {
	{"ended", PARAM_BOOL, offsetof(struct session_list_args, ended),
     .summary = "those that have ended and can be read"},
	{0},
};
const struct param session_params[] = {PARAM_SESSION(session_args), {0}};
const struct param no_params[] = {{0}};

static struct session *fail_unknown(struct call *call, const char *id)
{
	call_fail(call, CODE_NOT_FOUND, "session", id, "there is no session `%s`", id);
	return NULL;
}

static struct session *fail_removed(struct call *call, struct session *session)
{
	call_fail(call, CODE_FORBIDDEN, "session", session->id, "an owner removed you from this session");
	session_channel_gone(session);
	return NULL;
}

/* A guest sees the session of its token alone. */
static bool is_in_sight(const struct call *call, const char *id)
{
	const char *only = call->caller->principal.session;
	return only[0] == '\0' || strcmp(only, id) == 0;
}

static struct session *fail_ended(struct call *call, const char *id)
{
	call_fail(call, CODE_SESSION_ENDED, "session", id, "session `%s` has ended", id);
	return NULL;
}

struct session *call_session(struct call *call, const char *id)
{
	if (!is_in_sight(call, id))
		return fail_unknown(call, id);
	struct session *session = sessions_find(&call->caller->server->sessions, id, strlen(id),
	                                        call->caller->principal.tenant);
	if (!session)
		return kept_has(&call->caller->server->sessions, id, call->caller->principal.tenant) ? fail_ended(call, id)
		                                                                                     : fail_unknown(call, id);
	if (session->state == SESSION_ENDED)
		return fail_ended(call, id);
	return session;
}

struct session *call_readable_session(struct call *call, const char *id)
{
	struct sessions *sessions = &call->caller->server->sessions;
	const char *tenant = call->caller->principal.tenant;
	struct error err = {0};
	if (!is_in_sight(call, id))
		return fail_unknown(call, id);
	struct session *session = sessions_find(sessions, id, strlen(id), tenant);
	if (!session)
		session = kept_open(sessions, id, tenant, &err);
	if (session && caller_was_removed(call->caller, session))
		return fail_removed(call, session);
	if (session)
		return session;
	if (err.message[0])
		call_fail(call, CODE_INTERNAL, "session", id, "session `%s` cannot be read: %s", id, err.message);
	else
		fail_unknown(call, id);
	return NULL;
}

/* --- create and end ------------------------------------------------------------------------------------------ */

struct session_wait {
	struct session_watch watch;
	struct call *call;
};

static struct session_wait *wait_create(struct call *call)
{
	struct session_wait *wait = calloc(1, sizeof *wait);
	if (!wait)
		abort();
	wait->call = call;
	return wait;
}

static struct call *wait_finish(struct session_watch *watch)
{
	struct session_wait *wait = (struct session_wait *)watch;
	struct call *call = wait->call;
	free(wait);
	return call;
}
_Static_assert(offsetof(struct session_wait, watch) == 0, "the watch is the wait's beginning");

static void on_created(struct session_watch *watch, struct session *session)
{
	struct call *call = wait_finish(watch);
	writer_map(&call->result, 2);
	writer_key_str(&call->result, "session", session->id);
	writer_key_uint(&call->result, "seq", journal_last_seq(session->journal));
	call_answer(call);
}

static void on_failed(struct session_watch *watch, const char *code, const char *message)
{
	call_fail_named(wait_finish(watch), code, message);
}

static void on_ended(struct session_watch *watch)
{
	call_answer_empty(wait_finish(watch));
}

static bool refuse_while_draining(struct call *call)
{
	bool is_draining = call->caller->server->is_draining;
	if (is_draining)
		call_fail(call, CODE_UNAVAILABLE, NULL, NULL, "the server is about to stop: no session can be made any more");
	return is_draining;
}

static bool record_of(struct call *call, const struct session_create_args *args, uint64_t *bytes)
{
	const uint64_t least = 1 << 20;
	*bytes = args->record.has ? args->record.value : call->caller->server->sessions.record_bytes;
	if (*bytes == 0 || *bytes >= least)
		return true;
	call_fail(call, CODE_INVALID_PARAMS, "field", "limits", "`record` is 0 or at least %llu",
	          (unsigned long long)least);
	return false;
}

static void free_env(char **env)
{
	for (char **entry = env; *entry; entry++)
		free(*entry);
	free(env);
}

void handle_session_create(struct call *call, const void *arguments)
{
	const struct session_create_args *args = arguments;
	struct session_options options = {.name = args->name,
	                                  .template = args->template,
	                                  .tenant = call->caller->principal.tenant,
	                                  .context = (const char *const *)args->context};
	if (args->on_disconnect == 1) {
		options.client = call->caller->client;
		options.away_ms = args->disconnect_ms;
	}
	if (refuse_while_draining(call) || !record_of(call, args, &options.record_bytes) ||
	    !templates_apply(call, args, &options))
		return;
	if (!tenant_may_create(call, options.limits.memory)) {
		free_env(options.env);
		return;
	}
	struct session_wait *wait = wait_create(call);
	wait->watch.created = on_created;
	wait->watch.failed = on_failed;
	enum error_code code;
	struct error err;
	if (session_create(&call->caller->server->sessions, &options, &wait->watch, &code, &err))
		return;
	free_env(options.env);
	call_fail(wait_finish(&wait->watch), code, NULL, NULL, "%s", err.message);
}

void handle_session_end(struct call *call, const void *arguments)
{
	const struct session_args *args = arguments;
	struct session *session = call_session(call, args->session);
	if (!session)
		return;
	struct session_wait *wait = wait_create(call);
	wait->watch.ended = on_ended;
	session_end(session, "ended", &wait->watch);
}

/* --- list and info ------------------------------------------------------------------------------------------- */

enum { SUMMARY_KEYS = 6 };

/* nil where the server that made it did not note that. */
static void write_template(struct writer *writer, const char *name)
{
	writer_key_str(writer, "template", name[0] ? name : NULL);
}

static void write_summary(struct writer *writer, const struct session *session)
{
	writer_key_str(writer, "session", session->id);
	writer_key_str(writer, "name", session->name);
	write_template(writer, session->template);
	writer_key_uint(writer, "created_us", session->created_us);
	writer_key_uint(writer, "processes", session->running_count);
	writer_key_uint(writer, "seq", history_last(session));
}

static bool is_callers(const struct call *call, const char *tenant)
{
	return strcmp(tenant, call->caller->principal.tenant) == 0;
}

static bool is_shown(const struct session *session, const struct call *call)
{
	bool is_there = session->state == SESSION_RUNNING || session->state == SESSION_ENDING;
	return is_there && is_callers(call, session->tenant) && is_in_sight(call, session->id);
}

/* A list of very many sessions has no room for what stands beside the last ones. */
static void list_more(struct writer *writer, const struct session *session)
{
	bool has_room = writer->length < CALL_RESULT_BYTES / 2;
	writer_str(writer, "context");
	if (has_room)
		context_write(writer, (const char *const *)session->context);
	else
		writer_nil(writer);
	writer_str(writer, "usage");
	if (has_room)
		meter_write(writer, &session->meter);
	else
		writer_nil(writer);
}

static void list_live(struct call *call)
{
	const struct sessions *sessions = &call->caller->server->sessions;
	struct session *session;
	uint32_t count = 0;
	LIST_FOREACH(session, &sessions->list, link)
		count += is_shown(session, call);
	writer_array(&call->result, count);
	LIST_FOREACH(session, &sessions->list, link) {
		if (!is_shown(session, call))
			continue;
		writer_map(&call->result, SUMMARY_KEYS + 3);
		write_summary(&call->result, session);
		writer_key_uint(&call->result, "participants", participants_count(session));
		list_more(&call->result, session);
		meter_refresh(&session->meter);
	}
}

static void write_end(struct writer *writer, uint64_t ended_us, const char *reason)
{
	writer_key_uint(writer, "ended_us", ended_us);
	writer_key_str(writer, "reason", reason ? reason : "lost");
}

/* It has ended, and its record is not finished: so it does not stand among the kept ones yet. */
static bool is_ending_up(const struct session *session, const struct call *call)
{
	return session->state == SESSION_ENDED && !session->is_kept && session->recording &&
	       is_callers(call, session->tenant) && is_in_sight(call, session->id);
}

/* The newest ones, as many as a message holds. */
static void list_ended(struct call *call)
{
	enum { ROWS_MOST = 2000 };
	const struct sessions *sessions = &call->caller->server->sessions;
	const struct session *session;
	const struct kept_session *row;
	uint32_t count = 0;
	LIST_FOREACH(session, &sessions->list, link)
		count += is_ending_up(session, call);
	TAILQ_FOREACH(row, &sessions->kept.list, link)
		count += is_callers(call, row->tenant) && is_in_sight(call, row->id);
	uint32_t most = count < ROWS_MOST ? count : ROWS_MOST;
	writer_array(&call->result, most);
	LIST_FOREACH(session, &sessions->list, link) {
		if (!is_ending_up(session, call) || most == 0)
			continue;
		most--;
		writer_map(&call->result, SUMMARY_KEYS + 2);
		write_summary(&call->result, session);
		write_end(&call->result, session->ended_us, session->end_reason);
	}
	TAILQ_FOREACH_REVERSE(row, &sessions->kept.list, kept_sessions, link) {
		if (!is_callers(call, row->tenant) || !is_in_sight(call, row->id) || most == 0)
			continue;
		most--;
		writer_map(&call->result, SUMMARY_KEYS + 2);
		writer_key_str(&call->result, "session", row->id);
		writer_key_str(&call->result, "name", row->name);
		write_template(&call->result, row->template);
		writer_key_uint(&call->result, "created_us", row->created_us);
		writer_key_uint(&call->result, "processes", 0);
		writer_key_uint(&call->result, "seq", row->last);
		write_end(&call->result, row->ended_us, row->end_reason);
	}
}

void handle_session_list(struct call *call, const void *arguments)
{
	const struct session_list_args *args = arguments;
	writer_map(&call->result, 1);
	writer_str(&call->result, "sessions");
	if (args->ended)
		list_ended(call);
	else
		list_live(call);
	call_answer(call);
}

static void write_layers(struct writer *writer, const struct layer_report *report, int count)
{
	writer_str(writer, "layers");
	writer_array(writer, (uint32_t)count);
	for (int layer = 0; layer < count; layer++) {
		writer_map(writer, 3);
		writer_key_str(writer, "name", layer_name((enum layer)layer));
		writer_key_bool(writer, "on", report->layers[layer].on != 0);
		writer_key_str(writer, "detail", report->layers[layer].detail);
	}
}

static void write_limits(struct writer *writer, const struct sandbox_limits *limits)
{
	writer_str(writer, "limits");
	writer_map(writer, 8);
	writer_key_uint(writer, "memory", limits->memory);
	writer_key_uint(writer, "processes", limits->processes);
	writer_key_uint(writer, "cpu", limits->cpu_percent);
	writer_key_uint(writer, "cpu_weight", limits->cpu_weight);
	writer_key_uint(writer, "workspace", limits->workspace);
	writer_key_uint(writer, "inodes", limits->inodes);
	writer_key_uint(writer, "open_files", limits->open_files);
	writer_key_uint(writer, "file_size", limits->file_size);
}

static void write_queue(struct writer *writer, const char *name, uint64_t used, uint64_t limit)
{
	writer_str(writer, name);
	writer_map(writer, 2);
	writer_key_uint(writer, "used", used);
	writer_key_uint(writer, "limit", limit);
}

static void write_session_queues(struct writer *writer, const struct session *session)
{
	uint64_t input = 0, own = 0;
	const struct process *process;
	const struct channel *channel;
	TAILQ_FOREACH(process, &session->processes, link)
		input += input_queued(&process->input);
	LIST_FOREACH(channel, &session->channels, link)
		own += channel->own.length;
	writer_str(writer, "queues");
	writer_map(writer, 5);
	const struct journal *journal = session->journal;
	write_queue(writer, "ring_bytes", journal ? journal_tail(journal) - journal_head(journal) : 0,
	            journal ? journal_ring(journal) : 0);
	write_queue(writer, "processes", session->running_count, SESSION_PROCESSES);
	write_queue(writer, "input_bytes", input, (uint64_t)LIMIT_STDIN_WINDOW * JOURNAL_STDIN_SLOTS);
	write_queue(writer, "channel_bytes", own, (uint64_t)CHANNEL_OWN_BYTES * participants_count(session));
	write_queue(writer, "collected_bytes", session->collected, COLLECTED_MOST);
}

static void write_record(struct writer *writer, const struct session *session)
{
	const struct recording *recording = session->recording;
	writer_str(writer, "record");
	if (!recording) {
		writer_nil(writer);
		return;
	}
	writer_map(writer, 5);
	writer_key_uint(writer, "first", recording->first);
	writer_key_uint(writer, "last", recording->last);
	writer_key_uint(writer, "bytes", recording->bytes);
	writer_key_uint(writer, "limit", session->record_bytes);
	writer_str(writer, "stopped");
	if (recording->errnum)
		writer_str(writer, strerror(recording->errnum));
	else
		writer_nil(writer);
}

/* A guest sees nothing of the server but its session. */
static void write_tenant(struct writer *writer, const struct call *call)
{
	const struct principal *who = &call->caller->principal;
	writer_str(writer, "tenant");
	if (who->session[0] == '\0')
		tenant_write(writer, call->caller->server, who->tenant);
	else
		writer_nil(writer);
}

static void write_info(struct writer *writer, const struct session *session)
{
	const struct journal *journal = session->journal;
	write_summary(writer, session);
	writer_key_uint(writer, "ttl_ms", session->ttl_ms);
	writer_str(writer, "context");
	context_write(writer, (const char *const *)session->context);
	if (session->state == SESSION_ENDED)
		write_end(writer, session->ended_us, session->end_reason);
	write_limits(writer, &session->limits);
	writer_key_str(writer, "profile", profile_name((enum profile)session->limits.profile));
	writer_key_str(writer, "user", inner_user_name((enum inner_user)session->limits.user));
	write_layers(writer, &session->layers, session->is_kept ? 0 : LAYER_COUNT);
	writer_str(writer, "journal");
	writer_map(writer, 3);
	writer_key_uint(writer, "first", history_first(session));
	writer_key_uint(writer, "last", history_last(session));
	writer_key_uint(writer, "bytes", journal ? journal_tail(journal) - journal_head(journal) : 0);
	write_record(writer, session);
	writer_str(writer, "participants");
	participants_write(writer, session, UINT32_MAX);
	writer_str(writer, "terminals");
	sharing_write_all(writer, session);
	write_session_queues(writer, session);
}

static void answer_info(struct call *call, const struct session *session)
{
	writer_map(&call->result, SUMMARY_KEYS + 2 + (session->state == SESSION_ENDED ? 13 : 11));
	write_info(&call->result, session);
	write_tenant(&call->result, call);
	writer_str(&call->result, "usage");
	if (session->state == SESSION_ENDED)
		writer_nil(&call->result);
	else
		meter_write(&call->result, &session->meter);
	call_answer(call);
}

struct info_wait {
	struct meter_watch watch;
	struct call *call;
};

static void on_measured(struct meter_watch *watch, struct session *session)
{
	struct call *call = ((struct info_wait *)watch)->call;
	free(watch);
	if (call->caller)
		answer_info(call, session);
	else
		call_answer_empty(call); /* to nobody */
}
_Static_assert(offsetof(struct info_wait, watch) == 0, "the watch is the wait's beginning");

void handle_session_info(struct call *call, const void *arguments)
{
	const struct session_args *args = arguments;
	struct session *session = call_readable_session(call, args->session);
	if (!session)
		return;
	if (session->state == SESSION_ENDED) {
		answer_info(call, session);
		session_channel_gone(session);
		return;
	}
	struct info_wait *wait = calloc(1, sizeof *wait);
	if (!wait)
		abort();
	wait->watch.measured = on_measured;
	wait->call = call;
	meter_ask(&session->meter, &wait->watch);
}

void handle_server_info(struct call *call, const void *arguments)
{
	(void)arguments;
	if (!gate_is_operator(&call->caller->principal)) {
		call_fail(call, CODE_FORBIDDEN, NULL, NULL, "the whole server is shown to the tenant `%s` only",
		          OPERATOR_TENANT);
		return;
	}
	const struct server *server = call->caller->server;
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	uint64_t now_us = (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
	struct writer *writer = &call->result;
	writer_map(writer, 7);
	writer_key_str(writer, "server", "sandbar/" SANDBAR_VERSION);
	writer_key_uint(writer, "uptime_ms", (now_us - server->started_us) / 1000);
	writer_key_uint(writer, "sessions", server->sessions.count);
	writer_key_uint(writer, "connections", server->connections);
	write_layers(writer, server->layers, LAYER_COUNT);
	writer_str(writer, "queues");
	writer_map(writer, 4);
	write_queue(writer, "sessions", server->sessions.count, server->sessions.most);
	write_queue(writer, "connections", server->connections, server->most_connections);
	write_queue(writer, "unfinished_bytes", server->reassembly_bytes, SERVER_UNFINISHED_BYTES);
	write_queue(writer, "answer_bytes", server->queued_bytes, SERVER_ANSWER_BYTES);
	writer_str(writer, "tenants");
	tenants_write(writer, server);
	call_answer(call);
}
